#include <pthread.h>
#include <assert.h>
#include <stdatomic.h>
#define LOAD(x) _Generic((x), int: (x), atomic_int: atomic_load_explicit(&(x), memory_order_acquire))
typedef enum side { LEFT, RIGHT, SIDES } side_t;
static atomic_int want[SIDES];
static atomic_int victim;
static int in[SIDES];
static void *run(void *arg)
{
    const side_t me = (side_t)(long)arg, other = me == LEFT ? RIGHT : LEFT;
    atomic_store_explicit(&want[me], 1, memory_order_relaxed);
    atomic_store_explicit(&victim, me, memory_order_release);
    while (LOAD(want[other]) && LOAD(victim) == (int)me)
        ;
    in[me] = 1;
    assert(!in[other]);
    in[me] = 0;
    atomic_store_explicit(&want[me], 0, memory_order_release);
    return NULL;
}
int main(void)
{
    pthread_t t[SIDES];
    for (side_t s = LEFT; s < SIDES; s++)
        pthread_create(&t[s], NULL, run, (void *)(long)s);
    for (side_t s = LEFT; s < SIDES; s++)
        pthread_join(t[s], NULL);
    return 0;
}
