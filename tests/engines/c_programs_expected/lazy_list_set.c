#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
#include <limits.h>
/* Sorted list with hand-over-hand locks. */
typedef struct node { int key; struct node *next; pthread_mutex_t lock; } node_t;
static node_t *head;
static node_t *new_node(int key, node_t *next)
{
    node_t *n = malloc(sizeof(node_t));
    if (n == NULL) abort();
    n->key = key;
    n->next = next;
    pthread_mutex_init(&n->lock, NULL);
    return n;
}
static int add(int key)
{
    node_t *pred = head, *curr;
    int added = 0;
    pthread_mutex_lock(&pred->lock);
    curr = pred->next;
    pthread_mutex_lock(&curr->lock);
    while (curr->key < key) {
        pthread_mutex_unlock(&pred->lock);
        pred = curr;
        curr = curr->next;
        pthread_mutex_lock(&curr->lock);
    }
    if (curr->key != key) {
        pred->next = new_node(key, curr);
        added = 1;
    }
    pthread_mutex_unlock(&curr->lock);
    pthread_mutex_unlock(&pred->lock);
    return added;
}
static int results[2];
static void *adder(void *arg) { long i = (long)arg; results[i] = add(5); return NULL; }
int main(void)
{
    pthread_t t[2];
    head = new_node(INT_MIN, new_node(INT_MAX, NULL));
    for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, adder, (void *)i);
    for (long i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(results[0] + results[1] == 1);
    assert(head->next->key == 5);
    return 0;
}
