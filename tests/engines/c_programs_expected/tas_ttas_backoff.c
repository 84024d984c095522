#include <pthread.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <sched.h>
#include <assert.h>
static atomic_bool held;
static int crit;
static void lock(void)
{
    int spins = 0;
    while (true) {
        while (atomic_load_explicit(&held, memory_order_relaxed))
            if (++spins > 3) { sched_yield(); spins = 0; }
        if (!atomic_exchange_explicit(&held, true, memory_order_acquire))
            return;
    }
}
static void unlock(void) { atomic_store_explicit(&held, false, memory_order_release); }
static void *w(void *a) { lock(); int c = crit; crit = c + 1; unlock(); return a; }
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, w, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(crit == 2);
    return 0;
}
