#include <pthread.h>
#include <errno.h>
#include <assert.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    for (;;) {
        pthread_mutex_lock(first);
        int e = pthread_mutex_trylock(second);
        if (e == 0) break;
        assert(e == EBUSY);
        pthread_mutex_unlock(first);
    }
    n++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *t1(void *p) { both(&a, &b); return p; }
static void *t2(void *p) { both(&b, &a); return p; }
int main(void)
{
    pthread_t x, y;
    pthread_create(&x, 0, t1, 0); pthread_create(&y, 0, t2, 0);
    pthread_join(x, 0); pthread_join(y, 0);
    assert(n == 2);
    return 0;
}
