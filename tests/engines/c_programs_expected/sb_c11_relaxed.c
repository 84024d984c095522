#include <stdatomic.h>
#include <threads.h>
#include <assert.h>
static atomic_int x = ATOMIC_VAR_INIT(0);
static _Atomic int y;
static int r[2];
static int t0(void *a) { atomic_store_explicit(&x, 1, memory_order_relaxed); r[0] = atomic_load_explicit(&y, memory_order_relaxed); return 0; }
static int t1(void *a) { atomic_store_explicit(&y, 1, memory_order_relaxed); r[1] = atomic_load_explicit(&x, memory_order_relaxed); return 0; }
int main(void)
{
    thrd_t a, b;
    thrd_create(&a, t0, NULL);
    thrd_create(&b, t1, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    assert(r[0] | r[1]);
    return 0;
}
