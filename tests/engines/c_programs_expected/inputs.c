#include <pthread.h>
extern int __VERIFIER_nondet_int();
extern unsigned int __VERIFIER_nondet_uint(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_error() __attribute__((__noreturn__));
void __VERIFIER_assert(int cond) { if (!(cond)) { ERROR: __VERIFIER_error(); } return; }
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
extern void abort(void);
int n, total; pthread_mutex_t lock;
void *add(void *x) {
    int k = __VERIFIER_nondet_int();
    assume_abort_if_not(0 <= k && k <= n);
    pthread_mutex_lock(&lock);
    total += k;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main() {
    pthread_t a, b;
    n = __VERIFIER_nondet_int();
    assume_abort_if_not(n > 0 && n < 1000);
    pthread_mutex_init(&lock, 0);
    pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    __VERIFIER_assert(total < 2 * n);
    return 0;
}
