#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <assert.h>
#include <stddef.h>
/* Treiber stack; readers announce what they look at, without the fence that needs. */
struct node { int value; struct node *next; };
static struct node *_Atomic top;
static struct node *_Atomic hazard;

static int peek(void)
{
    struct node *n;
    do {
        n = atomic_load_explicit(&top, memory_order_acquire);
        if (!n)
            return 1;
        atomic_store_explicit(&hazard, n, memory_order_release);
    } while (n != atomic_load_explicit(&top, memory_order_acquire));
    int v = n->value;
    atomic_store_explicit(&hazard, NULL, memory_order_release);
    return v;
}
static void pop(void)
{
    struct node *n = atomic_load(&top);
    if (n && atomic_compare_exchange_strong(&top, &n, n->next)) {
        if (atomic_load(&hazard) != n)
            free(n);
    }
}
static void *reader(void *p) { assert(peek() == 1); return p; }
static void *writer(void *p) { pop(); return p; }
int main(void)
{
    pthread_t t[2];
    struct node *n = malloc(sizeof *n);
    n->value = 1;
    n->next = NULL;
    atomic_store(&top, n);
    pthread_create(&t[0], NULL, reader, NULL);
    pthread_create(&t[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
