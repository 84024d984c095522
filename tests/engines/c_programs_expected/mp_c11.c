#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
atomic_int data, flag;
void *p(void *a) { atomic_store_explicit(&data, 42, memory_order_relaxed); atomic_store_explicit(&flag, 1, memory_order_relaxed); return 0; }
void *c(void *a) { if (atomic_load_explicit(&flag, memory_order_relaxed)) assert(atomic_load_explicit(&data, memory_order_relaxed) == 42); return 0; }
int main() { pthread_t t, u; pthread_create(&t, 0, p, 0); pthread_create(&u, 0, c, 0); pthread_join(t, 0); pthread_join(u, 0); }
