#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <assert.h>
#define THREADS 2
static struct { atomic_int count; atomic_bool sense; } bar = { .count = THREADS, .sense = false };
static int data[THREADS];
static void wait_all(bool *local)
{
    *local = !*local;
    if (atomic_fetch_sub(&bar.count, 1) == 1) {
        atomic_store_explicit(&bar.count, THREADS, memory_order_relaxed);
        atomic_store_explicit(&bar.sense, *local, memory_order_release);
    } else {
        while (atomic_load_explicit(&bar.sense, memory_order_acquire) != *local)
            ;
    }
}
static void *worker(void *arg)
{
    int id = *(int *)arg;
    bool sense = false;
    data[id] = id + 1;
    wait_all(&sense);
    int sum = 0;
    for (int i = 0; i < THREADS; i++)
        sum += data[i];
    assert(sum == 3);
    wait_all(&sense);
    data[id] = 0;
    return NULL;
}
int main(void)
{
    pthread_t t[THREADS];
    int ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        pthread_create(&t[i], NULL, worker, &ids[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    assert(data[0] == 0 && data[1] == 0);
    return 0;
}
