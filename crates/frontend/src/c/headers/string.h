#ifndef FW_STRING_H
#define FW_STRING_H
#include <stddef.h>
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size);
static size_t strlen(const char *text) {
  unsigned int length = 0;
  while (text[length] != 0) length++;
  return length;
}
static char *strcpy(char *to, const char *from) {
  unsigned int at = 0;
  do to[at] = from[at]; while (from[at++] != 0);
  return to;
}
static int strcmp(const char *a, const char *b) {
  unsigned int at = 0;
  while (a[at] != 0 && a[at] == b[at]) at++;
  return a[at] - b[at];
}
#endif
