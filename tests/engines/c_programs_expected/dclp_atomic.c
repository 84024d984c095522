#include <threads.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>
struct res { int v; };
static _Atomic(struct res *) inst = NULL;
static mtx_t lk;
static struct res *get(void)
{
    struct res *p = atomic_load_explicit(&inst, memory_order_acquire);
    if (!p) {
        mtx_lock(&lk);
        p = atomic_load_explicit(&inst, memory_order_relaxed);
        if (!p) {
            p = malloc(sizeof *p);
            p->v = 5;
            atomic_store_explicit(&inst, p, memory_order_release);
        }
        mtx_unlock(&lk);
    }
    return p;
}
static int use(void *_) { return get()->v; }
int main(void)
{
    thrd_t a, b; int x, y;
    mtx_init(&lk, mtx_plain);
    thrd_create(&a, use, 0); thrd_create(&b, use, 0);
    thrd_join(a, &x); thrd_join(b, &y);
    assert(x == 5 && y == 5);
    free(inst);
    return 0;
}
