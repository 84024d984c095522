#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>
/* Endless producer and observer: the counter never goes down. */
static atomic_uint ticks;
static void *tick(void *u) { while (1) { unsigned t = atomic_load_explicit(&ticks, memory_order_relaxed); if (t == 1000) t = 999; atomic_store_explicit(&ticks, t + 1, memory_order_release); } return u; }
static void *look(void *u) { for (;;) { unsigned a = ticks; assert(a <= 1000); } }
int main(void) { pthread_t a, b; pthread_create(&a, 0, tick, 0); pthread_create(&b, 0, look, 0); pthread_join(a, 0); pthread_join(b, 0); }
