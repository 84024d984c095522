#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
static atomic_uint seq; static atomic_int d1, d2;
static void *wr(void *u)
{
    for (int i = 1; i <= 2; i++) {
        unsigned s = atomic_load_explicit(&seq, memory_order_relaxed);
        atomic_store_explicit(&seq, s + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&d1, i, memory_order_relaxed);
        atomic_store_explicit(&d2, i, memory_order_relaxed);
        atomic_store_explicit(&seq, s + 2, memory_order_release);
    }
    return u;
}
static void *rd(void *u)
{
    unsigned s1, s2; int x, y;
    do {
        s1 = atomic_load_explicit(&seq, memory_order_acquire);
        x = atomic_load_explicit(&d1, memory_order_relaxed);
        y = atomic_load_explicit(&d2, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        s2 = atomic_load_explicit(&seq, memory_order_relaxed);
    } while (s1 != s2 || s1 & 1);
    assert(x == y);
    return u;
}
int main(void) { pthread_t a, b; pthread_create(&a, 0, wr, 0); pthread_create(&b, 0, rd, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }
