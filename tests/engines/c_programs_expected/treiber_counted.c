#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <assert.h>
/* Stack of indices with a version in the same word. */
typedef struct { uint32_t value; uint32_t next; } cell;
static cell pool[3];
static _Atomic uint64_t top;       /* version << 32 | index + 1 */
static void push(uint32_t i)
{
    uint64_t old = atomic_load(&top), new;
    do {
        pool[i].next = (uint32_t)old;
        new = ((old >> 32) + 1) << 32 | (i + 1);
    } while (!atomic_compare_exchange_weak(&top, &old, new));
}
static int pop(void)
{
    uint64_t old = atomic_load(&top);
    for (;;) {
        uint32_t i = (uint32_t)old;
        if (i == 0)
            return -1;
        uint64_t new = ((old >> 32) + 1) << 32 | pool[i - 1].next;
        if (atomic_compare_exchange_weak(&top, &old, new))
            return (int)i - 1;
    }
}
static int owned[3];
static void *worker(void *a)
{
    int i = pop();
    if (i >= 0) {
        int before = __atomic_fetch_add(&owned[i], 1, __ATOMIC_RELAXED);
        assert(before == 0);
        __atomic_fetch_sub(&owned[i], 1, __ATOMIC_RELAXED);
        push(i);
    }
    return a;
}
int main(void)
{
    pthread_t a, b;
    for (uint32_t i = 0; i < 2; i++) push(i);
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
