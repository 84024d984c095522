#ifndef FW_STRING_H
#define FW_STRING_H
#include <stddef.h>
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size);
size_t strlen(const char *text);
#endif
