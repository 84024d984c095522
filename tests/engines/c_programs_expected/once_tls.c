#include <pthread.h>
#include <assert.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised;
static __thread int calls = 5;
static void init(void) { initialised++; }
static void *run(void *p)
{
    static int shared_static;
    pthread_once(&once, init);
    assert(initialised == 1);
    calls++;
    assert(calls == 6);
    __sync_fetch_and_add(&shared_static, 1);
    assert(shared_static >= 1 && shared_static <= 2);
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(calls == 5);
    return 0;
}
