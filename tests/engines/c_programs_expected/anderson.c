#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define N 3
#define PAD (64 - sizeof(atomic_int))
struct slot { atomic_int has_lock; char pad[PAD]; };
static struct slot slots[N] = { [0] = { .has_lock = 1 } };
static atomic_uint tail;
static unsigned in;
static int acquire(void)
{
    unsigned me = atomic_fetch_add(&tail, 1) % N;
    while (!atomic_load_explicit(&slots[me].has_lock, memory_order_acquire))
        ;
    return me;
}
static void release(int me)
{
    atomic_store_explicit(&slots[me].has_lock, 0, memory_order_relaxed);
    atomic_store_explicit(&slots[(me + 1) % N].has_lock, 1, memory_order_release);
}
static void *run(void *_)
{
    int me = acquire();
    assert(in++ == 0);
    in--;
    release(me);
    return _;
}
int main(void)
{
    pthread_t t[N];
    for (unsigned i = 0; i < N; i++)
        if (pthread_create(&t[i], NULL, run, NULL) != 0)
            return 1;
    for (unsigned i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}
