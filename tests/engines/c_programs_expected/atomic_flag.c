#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
static atomic_flag busy = ATOMIC_FLAG_INIT;
static int n;
static void *inc(void *p)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
    n++;
    atomic_flag_clear_explicit(&busy, memory_order_release);
    return p;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; ++i) pthread_create(&t[i], NULL, inc, NULL);
    for (int i = 0; i < 3; ++i) pthread_join(t[i], NULL);
    assert(n == 3);
}
