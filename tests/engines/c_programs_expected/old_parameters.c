#include <pthread.h>
#include <assert.h>
int count = 0;
int step(n, by) int n; int by; { return n + by; }
void *
incr(arg)
    void *arg;
{
    register int i;
    auto int unused = 0;
    for (i = 0; i < 2; i++)
        count = step(count, 1);
    return (void *) 0;
}
main()
{
    pthread_t a, b;
    pthread_create(&a, (pthread_attr_t *) 0, incr, (void *) 0);
    pthread_create(&b, (pthread_attr_t *) 0, incr, (void *) 0);
    pthread_join(a, (void **) 0);
    pthread_join(b, (void **) 0);
    assert(count == 4);
    return 0;
}
