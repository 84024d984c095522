#ifndef FW_GENMC_H
#define FW_GENMC_H
#include <stdbool.h>
extern void __VERIFIER_assume(int condition);
extern int __VERIFIER_nondet_int(void);
#define __VERIFIER_loop_begin() ((void)0)
#define __VERIFIER_spin_start() ((void)0)
#define __VERIFIER_spin_end(condition) ((void)(condition))
#define __VERIFIER_local_write(statement) do { statement; } while (0)
#define __VERIFIER_final_write(statement) do { statement; } while (0)
#define __VERIFIER_final_CAS(condition) (condition)
#define __VERIFIER_helped_CAS(condition) (condition)
#define __VERIFIER_helping_CAS(condition)
#define __VERIFIER_optional(value) (value)
#endif
