#include <pthread.h>
#include <assert.h>
#define __READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define READ_ONCE(x) ({ __typeof__(x) __x = __READ_ONCE(x); __x; })
#define WRITE_ONCE(x, val) ({ *(volatile __typeof__(x) *)&(x) = (val); })
#define smp_mb() __asm__ volatile("lock; addl $0,-4(%%rsp)" ::: "memory", "cc")
#define smp_store_release(p, v) do { __atomic_store_n((p), (v), __ATOMIC_RELEASE); } while (0)
#define smp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define cmpxchg(ptr, old, new) __sync_val_compare_and_swap((ptr), (old), (new))
#define xchg(ptr, v) __atomic_exchange_n((ptr), (v), __ATOMIC_SEQ_CST)
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define cpu_relax() __asm__ volatile("rep; nop" ::: "memory")
typedef struct { int counter; } atomic_t;
#define ATOMIC_INIT(i) { (i) }
#define atomic_read(v) READ_ONCE((v)->counter)
static inline void atomic_inc(atomic_t *v) { __asm__ volatile("" ::: "memory"); __sync_fetch_and_add(&v->counter, 1); }
static inline int atomic_dec_and_test(atomic_t *v) { return __sync_sub_and_fetch(&v->counter, 1) == 0; }
struct spin { int val; };
static void spin_lock(struct spin *l)
{
    while (unlikely(cmpxchg(&l->val, 0, 1) != 0))
        cpu_relax();
}
static void spin_unlock(struct spin *l) { smp_store_release(&l->val, 0); }
static struct spin lock;
static atomic_t refs = ATOMIC_INIT(2);
static int x, y, r1, r2, freed;
static void put(void) { if (atomic_dec_and_test(&refs)) { assert(!freed); freed = 1; } }
static void *cpu0(void *u) { WRITE_ONCE(x, 1); smp_mb(); r1 = READ_ONCE(y); spin_lock(&lock); spin_unlock(&lock); put(); return u; }
static void *cpu1(void *u) { WRITE_ONCE(y, 1); smp_mb(); r2 = READ_ONCE(x); put(); return u; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, cpu0, 0);
    pthread_create(&b, 0, cpu1, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(!(r1 == 0 && r2 == 0));
    assert(freed && atomic_read(&refs) == 0);
    return 0;
}
