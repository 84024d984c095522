#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>
struct qnode { atomic_int busy; };
struct clh { struct qnode *_Atomic tail; };
static struct clh *clh;
static int counter;
static _Thread_local struct qnode *mine, *pred;
static void lock(struct clh *l)
{
    atomic_store_explicit(&mine->busy, 1, memory_order_relaxed);
    pred = atomic_exchange(&l->tail, mine);
    while (atomic_load_explicit(&pred->busy, memory_order_acquire))
        ;
}
static void unlock(void)
{
    struct qnode *old = mine;
    mine = pred;
    atomic_store_explicit(&old->busy, 0, memory_order_release);
}
static void *worker(void *x)
{
    mine = malloc(sizeof *mine);
    for (int k = 0; k < 2; k++) {
        lock(clh);
        counter++;
        unlock();
    }
    return x;
}
int main(void)
{
    pthread_t t1, t2;
    clh = calloc(1, sizeof(struct clh));
    struct qnode *dummy = calloc(1, sizeof *dummy);
    clh->tail = dummy;
    pthread_create(&t1, 0, worker, 0);
    pthread_create(&t2, 0, worker, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    assert(counter == 4);
    return 0;
}
