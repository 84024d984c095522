#include <pthread.h>
#include <assert.h>
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define STR(x) #x
#define THREADS(X) X(1) X(2)
#define FOR_OTHER_1 2
#define FOR_OTHER_2 1
#define VA(first, ...) __VA_ARGS__
#define DECLARE(n) static volatile int CAT(flag, n); static int CAT(r, n);
THREADS(DECLARE)
#define BODY(n) static void *CAT(thread, n)(void *u) { CAT(flag, n) = 1; CAT(r, n) = CAT(flag, CAT(FOR_OTHER_, n)); return VA(0, u); }
THREADS(BODY)
#if defined(__x86_64__) && !defined(NO_THREADS) && (__STDC_VERSION__ >= 201112L || 0)
#define START(n) pthread_t CAT(t, n); pthread_create(&CAT(t, n), 0, CAT(thread, n), (void *)STR(n));
#else
#error "what machine is this?"
#endif
#define JOIN(n) pthread_join(CAT(t, n), 0);
int main(void) { THREADS(START) THREADS(JOIN) assert(r1 + r2 >= 1); return 0; }
