#ifndef FW_STDNORETURN_H
#define FW_STDNORETURN_H
#define noreturn _Noreturn
#endif
