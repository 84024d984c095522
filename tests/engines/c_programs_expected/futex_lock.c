#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
/* A futex-like mutex with three states; waiting is spinning here. */
enum { FREE, TAKEN, CONTENDED };
static atomic_int state = FREE;
static int data;
static void lock(void)
{
    int c = FREE;
    if (atomic_compare_exchange_strong(&state, &c, TAKEN))
        return;
    do {
        if (c == CONTENDED || (c = TAKEN, atomic_compare_exchange_strong(&state, &c, CONTENDED)))
            while (atomic_load_explicit(&state, memory_order_relaxed) == CONTENDED)
                ;
        c = FREE;
    } while (!atomic_compare_exchange_strong(&state, &c, CONTENDED));
}
static void unlock(void)
{
    if (atomic_fetch_sub(&state, 1) != TAKEN)
        atomic_store(&state, FREE);
}
static void *w(void *x) { lock(); ++data; unlock(); return x; }
int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, 0, w, 0); pthread_create(&b, 0, w, 0); pthread_create(&c, 0, w, 0);
    pthread_join(a, 0); pthread_join(b, 0); pthread_join(c, 0);
    assert(data == 3);
    return 0;
}
