#include <pthread.h>
#include <time.h>
#include <errno.h>
#include <assert.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int ready;
static void *w(void *p) {
    struct timespec ts; clock_gettime(CLOCK_REALTIME, &ts); ts.tv_sec += 1;
    pthread_mutex_lock(&m);
    int rc = 0;
    while (!ready && rc == 0) rc = pthread_cond_timedwait(&c, &m, &ts);
    assert(rc != ETIMEDOUT);
    pthread_mutex_unlock(&m);
    return p;
}
static void *s(void *p) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }
int main(void) { pthread_t x, y; pthread_create(&x, 0, w, 0); pthread_create(&y, 0, s, 0); pthread_join(x, 0); pthread_join(y, 0); return 0; }
