#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#include <stddef.h>
/* The stack of indices without versions: a popped node that comes back fools a slow thread. */
struct node { struct node *next; int in_use; };
static struct node n[2];
static _Atomic(struct node *) head;
static struct node *pop(void)
{
    struct node *h = atomic_load(&head), *nx;
    do {
        if (!h) return NULL;
        nx = h->next;
    } while (!atomic_compare_exchange_strong(&head, &h, nx));
    return h;
}
static void push(struct node *x)
{
    struct node *h = atomic_load(&head);
    do x->next = h; while (!atomic_compare_exchange_strong(&head, &h, x));
}
static void use(struct node *x) { if (x) { assert(!x->in_use); x->in_use = 1; } }
static void *slow(void *p) { use(pop()); use(pop()); return p; }
static void *fast(void *p)
{
    struct node *a = pop(), *b = pop();
    use(b);
    if (a) push(a);
    return p;
}
int main(void)
{
    pthread_t s, t;
    push(&n[0]); push(&n[1]);
    pthread_create(&s, 0, slow, 0); pthread_create(&t, 0, fast, 0);
    pthread_join(s, 0); pthread_join(t, 0);
    return 0;
}
