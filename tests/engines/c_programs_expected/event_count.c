#include <pthread.h>
#include <assert.h>
#include <stdbool.h>
/* The waiter announces itself and looks again; the waker looks whether anybody waits. Lost wake-ups show as both missing. */
static bool waiting, condition;
static bool slept, woke;
static void *waiter(void *p)
{
    __atomic_store_n(&waiting, true, __ATOMIC_RELEASE);
    if (!__atomic_load_n(&condition, __ATOMIC_ACQUIRE))
        slept = true;
    return p;
}
static void *waker(void *p)
{
    __atomic_store_n(&condition, true, __ATOMIC_RELEASE);
    if (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
        woke = true;
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0); pthread_create(&b, 0, waker, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(!slept || woke);
    return 0;
}
