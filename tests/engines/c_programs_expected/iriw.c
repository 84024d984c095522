#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
atomic_int x, y; int a, b, c, d;
void *w1(void *p) { atomic_store_explicit(&x, 1, memory_order_relaxed); return p; }
void *w2(void *p) { atomic_store_explicit(&y, 1, memory_order_relaxed); return p; }
void *r1(void *p) { a = atomic_load_explicit(&x, memory_order_acquire); b = atomic_load_explicit(&y, memory_order_acquire); return p; }
void *r2(void *p) { c = atomic_load_explicit(&y, memory_order_acquire); d = atomic_load_explicit(&x, memory_order_acquire); return p; }
int main(void)
{
    void *(*f[])(void *) = { w1, w2, r1, r2 };
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(t + i, 0, f[i], 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    assert(!(a == 1 && b == 0 && c == 1 && d == 0));
    return 0;
}
