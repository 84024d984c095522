#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <assert.h>
typedef struct mcs_node { struct mcs_node *_Atomic next; atomic_bool locked; } mcs_node;
typedef _Atomic(mcs_node *) mcs_lock;
static mcs_lock lock;
static int inside;
static void mcs_acquire(mcs_lock *l, mcs_node *me)
{
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->locked, true, memory_order_relaxed);
    mcs_node *pred = atomic_exchange_explicit(l, me, memory_order_acq_rel);
    if (pred != NULL) {
        atomic_store_explicit(&pred->next, me, memory_order_release);
        while (atomic_load_explicit(&me->locked, memory_order_acquire))
            ;
    }
}
static void mcs_release(mcs_lock *l, mcs_node *me)
{
    mcs_node *succ = atomic_load_explicit(&me->next, memory_order_acquire);
    if (!succ) {
        mcs_node *expected = me;
        if (atomic_compare_exchange_strong_explicit(l, &expected, NULL, memory_order_release, memory_order_relaxed))
            return;
        while (!(succ = atomic_load_explicit(&me->next, memory_order_acquire)))
            ;
    }
    atomic_store_explicit(&succ->locked, false, memory_order_release);
}
static void *thread(void *arg)
{
    mcs_node me;
    mcs_acquire(&lock, &me);
    inside++;
    assert(inside == 1);
    inside--;
    mcs_release(&lock, &me);
    return NULL;
}
int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_create(&c, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
