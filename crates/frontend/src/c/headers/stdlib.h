#ifndef FW_STDLIB_H
#define FW_STDLIB_H
#include <stddef.h>
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);
void abort(void);
void exit(int status);
int atoi(const char *text);
int rand(void);
void srand(unsigned int seed);
int abs(int value);
long random(void);
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#endif
