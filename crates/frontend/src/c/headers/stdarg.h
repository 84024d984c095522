#ifndef FW_STDARG_H
#define FW_STDARG_H
typedef struct __fw_va_list *va_list;
#define va_start(list, last) ((void)0)
#define va_copy(to, from) ((void)0)
#define va_end(list) ((void)0)
#endif
