// Two threads count without a lock.
// Learn: this is wrong under every model, so no fence helps; an atomic increment does.
#include <assert.h>
#include <pthread.h>

int counter;

static void *count(void *arg) {
    counter++;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, count, 0);
    pthread_create(&b, 0, count, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
}
