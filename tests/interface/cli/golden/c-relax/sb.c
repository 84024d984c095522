#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

atomic_int x, y, seen;
int a, b;

void *left(void *arg) {
    atomic_store(&x, 1);
    atomic_thread_fence(memory_order_seq_cst);
    a = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store(&seen, 1);
    return NULL;
}

void *right(void *arg) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
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
