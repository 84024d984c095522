// Initialisation that is checked twice.
// Learn: the first check takes no lock; without an order on `ready` others may see it before the value, under PSO.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
atomic_int ready;

static void *worker(void *arg) {
    if (!atomic_load_explicit(&ready, memory_order_acquire)) {
        pthread_mutex_lock(&mutex);
        if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
            value = 7;
            atomic_store_explicit(&ready, 1, memory_order_relaxed);
        }
        pthread_mutex_unlock(&mutex);
    }
    assert(value == 7);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
