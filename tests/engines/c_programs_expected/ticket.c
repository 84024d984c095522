#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
typedef struct { atomic_uint next, owner; } ticket_t;
#define TICKET_INIT { ATOMIC_VAR_INIT(0), ATOMIC_VAR_INIT(0) }
static ticket_t lock = TICKET_INIT;
static long shared;
static void acquire(ticket_t *l)
{
    unsigned me = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&l->owner, memory_order_acquire) != me)
        continue;
}
static void release(ticket_t *l)
{
    unsigned o = atomic_load_explicit(&l->owner, memory_order_relaxed);
    atomic_store_explicit(&l->owner, o + 1, memory_order_release);
}
static void *work(void *n)
{
    long i, rounds = (long)n;
    for (i = 0; i < rounds; ++i) {
        acquire(&lock);
        shared += 1;
        release(&lock);
    }
    return (void *)i;
}
int main(void)
{
    pthread_t t[2];
    void *done;
    long sum = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(t + i, NULL, work, (void *)2L);
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], &done);
        sum += (long)done;
    }
    assert(shared == sum);
    return 0;
}
