#include <pthread.h>
#include <assert.h>
static pthread_spinlock_t s; static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER; static pthread_barrier_t bar;
static int a, b, c;
static void *t(void *p)
{
    pthread_spin_lock(&s); a++; pthread_spin_unlock(&s);
    pthread_rwlock_wrlock(&rw); b++; pthread_rwlock_unlock(&rw);
    int rc = pthread_barrier_wait(&bar);
    if (rc == PTHREAD_BARRIER_SERIAL_THREAD) c++;
    pthread_rwlock_rdlock(&rw); assert(b == 2); pthread_rwlock_unlock(&rw);
    return p;
}
int main(void)
{
    pthread_t x, y;
    pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&bar, NULL, 2);
    pthread_create(&x, 0, t, 0); pthread_create(&y, 0, t, 0);
    pthread_join(x, 0); pthread_join(y, 0);
    assert(a == 2 && b == 2 && c == 1);
    return 0;
}
