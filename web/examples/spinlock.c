// A spin lock made of an atomic exchange.
// Learn: the exchange is locked and the release keeps its order, so no fence is needed anywhere.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken;
int inside;

static void *worker(void *arg) {
    while (atomic_exchange(&taken, 1))
        ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&taken, 0, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
