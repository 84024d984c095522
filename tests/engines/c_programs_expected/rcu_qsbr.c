#include <pthread.h>
#include <assert.h>
/* Readers count themselves; the writer waits until none is left. The reader's fence is missing. */
static volatile int readers, gp;
static int *volatile ptr;
static int old = 1, new_ = 1, freed;
static void rcu_read_lock(void) { readers = 1; }
static void rcu_read_unlock(void) { readers = 0; }
static void synchronize(void) { __sync_synchronize(); while (readers) ; __sync_synchronize(); }
static void *reader(void *a)
{
    rcu_read_lock();
    int *p = ptr;
    assert(*p == 1);
    rcu_read_unlock();
    return a;
}
static void *writer(void *a)
{
    ptr = &new_;
    synchronize();
    old = 0;       /* poison */
    return a;
}
int main(void)
{
    pthread_t r, w;
    ptr = &old;
    pthread_create(&r, 0, reader, 0);
    pthread_create(&w, 0, writer, 0);
    pthread_join(r, 0); pthread_join(w, 0);
    return 0;
}
