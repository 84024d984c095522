#ifndef FW_SMACK_H
#define FW_SMACK_H
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern void __VERIFIER_assume(int condition);
extern void __VERIFIER_assert(int condition);
#endif
