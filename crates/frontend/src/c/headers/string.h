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
static char *strncpy(char *to, const char *from, size_t size) {
  size_t at = 0;
  for (; at < size && from[at] != 0; at++) to[at] = from[at];
  for (; at < size; at++) to[at] = 0;
  return to;
}
static char *strcat(char *to, const char *from) {
  strcpy(to + strlen(to), from);
  return to;
}
static int strncmp(const char *a, const char *b, size_t size) {
  size_t at = 0;
  while (at < size && a[at] != 0 && a[at] == b[at]) at++;
  return at == size ? 0 : a[at] - b[at];
}
static char *strchr(const char *text, int wanted) {
  while (*text != 0 && *text != (char)wanted) text++;
  return *text == (char)wanted ? (char *)text : (char *)0;
}
static char *strerror(int error) { return "error"; }
static int strcmp(const char *a, const char *b) {
  unsigned int at = 0;
  while (a[at] != 0 && a[at] == b[at]) at++;
  return a[at] - b[at];
}
#endif
