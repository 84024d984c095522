#ifndef FW_DAT3M_H
#define FW_DAT3M_H
#include <stdbool.h>
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int condition);
extern void __VERIFIER_assert(int condition);
#define __VERIFIER_loop_bound(rounds) ((void)0)
#define await_while(condition) while (condition)
#endif
