// Peterson's lock with relaxed atomics.
// Learn: relaxed atomics order nothing, so on x86 both threads may enter; ask for fences and put them in.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag[2], turn;
int inside;

static void lock(int me) {
    atomic_store_explicit(&flag[me], 1, memory_order_relaxed);
    atomic_store_explicit(&turn, 1 - me, memory_order_relaxed);
    while (atomic_load_explicit(&flag[1 - me], memory_order_relaxed) &&
           atomic_load_explicit(&turn, memory_order_relaxed) == 1 - me)
        ;
}

static void unlock(int me) {
    atomic_store_explicit(&flag[me], 0, memory_order_release);
}

static void *worker(void *arg) {
    int me = (int)(long)arg;
    lock(me);
    inside++;
    assert(inside == 1);
    inside--;
    unlock(me);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}
