#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
/* Work-stealing deque; take() lacks the fence between its store and its load. */
#define SIZE 4
enum { EMPTY = -1, ABORT = -2 };
static atomic_int top, bottom;
static atomic_int buffer[SIZE];
static int taken[3];
static void push(int x)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&buffer[b % SIZE], x, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, memory_order_release);
}
static int take(void)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    /* a full fence belongs here */
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    int x;
    if (t <= b) {
        x = atomic_load_explicit(&buffer[b % SIZE], memory_order_relaxed);
        if (t == b) {
            if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
                x = EMPTY;
            atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        }
    } else {
        x = EMPTY;
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return x;
}
static int steal(void)
{
    int t = atomic_load_explicit(&top, memory_order_acquire);
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    int x = EMPTY;
    if (t < b) {
        x = atomic_load_explicit(&buffer[t % SIZE], memory_order_relaxed);
        if (!atomic_compare_exchange_strong(&top, &t, t + 1))
            return ABORT;
    }
    return x;
}
static void got(int x)
{
    if (x >= 0) {
        int before = __atomic_fetch_add(&taken[x], 1, __ATOMIC_RELAXED);
        assert(before == 0);
    }
}
static void *owner(void *p) { push(1); push(2); got(take()); got(take()); return p; }
static void *thief(void *p) { got(steal()); got(steal()); return p; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, owner, 0);
    pthread_create(&b, 0, thief, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
