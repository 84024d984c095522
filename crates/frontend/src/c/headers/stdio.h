#ifndef FW_STDIO_H
#define FW_STDIO_H
#include <stddef.h>
typedef struct __fw_file FILE;
extern FILE *stdin, *stdout, *stderr;
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int scanf(const char *format, ...);
int sscanf(const char *text, const char *format, ...);
int fscanf(FILE *file, const char *format, ...);
int puts(const char *text);
int putchar(int c);
int fflush(FILE *file);
void perror(const char *text);
#define EOF (-1)
#endif
