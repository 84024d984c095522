#include <pthread.h>
#include <stdint.h>
#include <stdatomic.h>
#include <assert.h>
/* Harris' list: the lowest bit of next marks a node as deleted. */
struct node { _Atomic uintptr_t next; int key; };
#define MARKED(p) ((p) & 1u)
#define PTR(p) ((struct node *)((p) & ~(uintptr_t)1))
static struct node tail = { 0, 9 }, a = { (uintptr_t)0, 1 };
static void *del(void *u)
{
    uintptr_t n = atomic_load(&a.next);
    if (!MARKED(n)) atomic_compare_exchange_strong(&a.next, &n, n | 1);
    return u;
}
static void *look(void *u) { uintptr_t n = atomic_load(&a.next); assert(PTR(n)->key == 9); return u; }
int main(void)
{
    pthread_t x, y;
    atomic_store(&a.next, (uintptr_t)&tail);
    pthread_create(&x, 0, del, 0); pthread_create(&y, 0, look, 0);
    pthread_join(x, 0); pthread_join(y, 0);
    return 0;
}
