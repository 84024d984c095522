#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <assert.h>
/* Michael-Scott queue over an array of nodes; pointers carry a counter in their upper half. */
#define NODES 4
#define NIL 0u
typedef uint32_t tagged;
#define PTR(t)  ((t) & 0xffffu)
#define TAG(t)  ((t) >> 16)
#define MAKE(p, c) (((tagged)(c) << 16) | (p))
struct node { int value; _Atomic tagged next; };
static struct node nodes[NODES];
static _Atomic tagged head, tail;

static void enqueue(unsigned n, int v)
{
    nodes[n].value = v;
    atomic_store_explicit(&nodes[n].next, MAKE(NIL, 0), memory_order_relaxed);
    for (;;) {
        tagged t = atomic_load_explicit(&tail, memory_order_acquire);
        tagged next = atomic_load_explicit(&nodes[PTR(t)].next, memory_order_acquire);
        if (t != atomic_load(&tail))
            continue;
        if (PTR(next) == NIL) {
            if (atomic_compare_exchange_strong(&nodes[PTR(t)].next, &next, MAKE(n, TAG(next) + 1))) {
                atomic_compare_exchange_strong(&tail, &t, MAKE(n, TAG(t) + 1));
                return;
            }
        } else {
            atomic_compare_exchange_strong(&tail, &t, MAKE(PTR(next), TAG(t) + 1));
        }
    }
}

static int dequeue(int *out)
{
    for (;;) {
        tagged h = atomic_load(&head), t = atomic_load(&tail);
        tagged next = atomic_load(&nodes[PTR(h)].next);
        if (h != atomic_load(&head))
            continue;
        if (PTR(h) == PTR(t)) {
            if (PTR(next) == NIL)
                return 0;
            atomic_compare_exchange_strong(&tail, &t, MAKE(PTR(next), TAG(t) + 1));
        } else {
            int v = nodes[PTR(next)].value;
            if (atomic_compare_exchange_strong(&head, &h, MAKE(PTR(next), TAG(h) + 1))) {
                *out = v;
                return 1;
            }
        }
    }
}

static void *producer(void *arg) { (void)arg; enqueue(2, 42); return NULL; }
static void *consumer(void *arg)
{
    int v = 0;
    (void)arg;
    if (dequeue(&v))
        assert(v == 42);
    return NULL;
}
int main(void)
{
    pthread_t a, b;
    atomic_init(&head, MAKE(1u, 0));
    atomic_init(&tail, MAKE(1u, 0));
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
