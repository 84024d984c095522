#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#define BARRIER atomic_thread_fence(memory_order_seq_cst)

atomic_int x, y, seen;
int a, b;

void *left(void *arg) {
    atomic_store_explicit(&x, 1, memory_order_relaxed); BARRIER;
    BARRIER;
    a = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&seen, 1, memory_order_relaxed);
    return NULL;
}

void *right(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    BARRIER;
    b = atomic_load_explicit(&x, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, left, NULL);
    pthread_create(&two, NULL, right, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(a || b);
    return 0;
}
