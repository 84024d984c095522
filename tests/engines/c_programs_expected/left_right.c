#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
/* Left-right: readers announce on one side, the writer changes the side nobody reads. */
static atomic_int side, readers[2];
static int copy[2] = { 0, 0 };
static int busy[2];
static void *reader(void *p)
{
    int s = atomic_load_explicit(&side, memory_order_acquire);
    atomic_store_explicit(&readers[0], 1, memory_order_release);
    s = atomic_load_explicit(&side, memory_order_acquire);
    assert(!__atomic_load_n(&busy[s], __ATOMIC_RELAXED));
    atomic_store_explicit(&readers[0], 0, memory_order_release);
    return p;
}
static void *writer(void *p)
{
    atomic_store(&side, 1);
    while (atomic_load(&readers[0])) ;
    __atomic_store_n(&busy[0], 1, __ATOMIC_RELAXED);
    copy[0] = 1;
    __atomic_store_n(&busy[0], 0, __ATOMIC_RELEASE);
    return p;
}
int main(void)
{
    pthread_t r, w;
    pthread_create(&r, 0, reader, 0); pthread_create(&w, 0, writer, 0);
    pthread_join(r, 0); pthread_join(w, 0);
    return 0;
}
