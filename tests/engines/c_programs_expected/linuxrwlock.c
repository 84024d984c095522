#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
#define RW_LOCK_BIAS 0x00100000
#define WRITE_LOCK_CMP RW_LOCK_BIAS
typedef union { atomic_int lock; } rwlock_t;
static inline int write_can_lock(rwlock_t *rw) { return atomic_load_explicit(&rw->lock, memory_order_relaxed) == RW_LOCK_BIAS; }
static inline void read_lock(rwlock_t *rw)
{
    int prior = atomic_fetch_sub_explicit(&rw->lock, 1, memory_order_acquire);
    while (prior <= 0) {
        atomic_fetch_add_explicit(&rw->lock, 1, memory_order_relaxed);
        while (atomic_load_explicit(&rw->lock, memory_order_relaxed) <= 0)
            ;
        prior = atomic_fetch_sub_explicit(&rw->lock, 1, memory_order_acquire);
    }
}
static inline void write_lock(rwlock_t *rw)
{
    int prior = atomic_fetch_sub_explicit(&rw->lock, RW_LOCK_BIAS, memory_order_acquire);
    while (prior != RW_LOCK_BIAS) {
        atomic_fetch_add_explicit(&rw->lock, RW_LOCK_BIAS, memory_order_relaxed);
        while (!write_can_lock(rw)) ;
        prior = atomic_fetch_sub_explicit(&rw->lock, RW_LOCK_BIAS, memory_order_acquire);
    }
}
static inline void read_unlock(rwlock_t *rw) { atomic_fetch_add_explicit(&rw->lock, 1, memory_order_release); }
static inline void write_unlock(rwlock_t *rw) { atomic_fetch_add_explicit(&rw->lock, RW_LOCK_BIAS, memory_order_release); }
static rwlock_t mylock;
static int shareddata;
static void *r(void *p) { read_lock(&mylock); int a = shareddata; assert(a == shareddata); read_unlock(&mylock); return p; }
static void *w(void *p) { write_lock(&mylock); shareddata = 42; shareddata = 43; write_unlock(&mylock); return p; }
int main(void)
{
    pthread_t t[2];
    atomic_init(&mylock.lock, RW_LOCK_BIAS);
    pthread_create(&t[0], 0, r, 0);
    pthread_create(&t[1], 0, w, 0);
    pthread_join(t[0], 0); pthread_join(t[1], 0);
    return 0;
}
