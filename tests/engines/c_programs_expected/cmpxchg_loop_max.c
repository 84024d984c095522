#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
static atomic_int best = -1;
static void offer(int v) { int cur = best; while (v > cur && !atomic_compare_exchange_weak(&best, &cur, v)) ; }
static void *t(void *p) { offer((int)(long)p); return 0; }
int main(void) { pthread_t h[3]; for (int i = 0; i < 3; i++) pthread_create(&h[i], 0, t, (void *)(long)(i * 3 % 4)); for (int i = 0; i < 3; i++) pthread_join(h[i], 0); assert(best == 3); return 0; }
