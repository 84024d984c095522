#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
atomic_int x, y;
void *a(void *p) { atomic_store_explicit(&x, 1, memory_order_relaxed); atomic_store_explicit(&y, 2, memory_order_relaxed); return p; }
void *b(void *p) { atomic_store_explicit(&y, 1, memory_order_relaxed); atomic_store_explicit(&x, 2, memory_order_relaxed); return p; }
int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    assert(!(x == 1 && y == 1));
    return 0;
}
