#include <pthread.h>
#include <assert.h>
#include <stddef.h>
struct n { int v; struct n *next; };
static struct n a = { 1, NULL }, b = { 2, &a }, *list = &b;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void remove_key(struct n **pp, int k)
{
    while (*pp) {
        if ((*pp)->v == k) { *pp = (*pp)->next; return; }
        pp = &(*pp)->next;
    }
}
static void *rm(void *k) { pthread_mutex_lock(&m); remove_key(&list, (int)(long)k); pthread_mutex_unlock(&m); return 0; }
int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, rm, (void *)1L); pthread_create(&t, 0, rm, (void *)2L);
    pthread_join(s, 0); pthread_join(t, 0);
    assert(list == NULL);
    return 0;
}
