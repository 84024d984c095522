#ifndef FW_STDARG_H
#define FW_STDARG_H
typedef struct __fw_va_list *va_list;
#endif
