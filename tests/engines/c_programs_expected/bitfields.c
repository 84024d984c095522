#include <pthread.h>
#include <assert.h>
struct flags { unsigned ready : 1; unsigned count : 3; int sign : 2; unsigned : 0; unsigned tail : 5; };
static struct flags f = { .ready = 0, .count = 7, .sign = -1, .tail = 31 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *a(void *p)
{
    pthread_mutex_lock(&m);
    f.ready = 1;
    f.count++;
    pthread_mutex_unlock(&m);
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, a, 0);
    pthread_mutex_lock(&m);
    f.tail = f.tail + 1;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    assert(f.ready == 1 && f.count == 0 && f.sign == -1 && f.tail == 0);
    return 0;
}
