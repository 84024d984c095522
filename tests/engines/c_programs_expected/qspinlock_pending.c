#include <stdatomic.h>
#include <stdint.h>
#include <pthread.h>
#include <assert.h>
/* The kernel's pending bit: bit 0 locked, bit 8 pending. */
#define LOCKED 1u
#define PENDING (1u << 8)
#define LOCKED_MASK 0xffu
static _Atomic uint32_t val; static int n;
static void lock(void)
{
    uint32_t old = 0;
    if (atomic_compare_exchange_strong_explicit(&val, &old, LOCKED, memory_order_acquire, memory_order_relaxed))
        return;
    for (;;) {
        old = atomic_fetch_or_explicit(&val, PENDING, memory_order_acquire);
        if (!(old & PENDING))
            break;
    }
    while (atomic_load_explicit(&val, memory_order_acquire) & LOCKED_MASK)
        ;
    /* pending -> locked */
    atomic_fetch_add_explicit(&val, LOCKED - PENDING, memory_order_acquire);
}
static void unlock(void) { atomic_fetch_sub_explicit(&val, LOCKED, memory_order_release); }
static void *w(void *p) { lock(); int x = n; n = x + 1; assert(n == x + 1); unlock(); return p; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, w, 0); pthread_create(&b, 0, w, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(n == 2 && val == 0);
    return 0;
}
