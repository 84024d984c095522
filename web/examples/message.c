// A message and a flag, with release and acquire.
// Learn: a release store keeps the message before the flag, under PSO as well; make it relaxed and see.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int message;
atomic_int ready;

static void *sender(void *arg) {
    message = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return arg;
}

static void *receiver(void *arg) {
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(message == 42);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, sender, 0);
    pthread_create(&b, 0, receiver, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
