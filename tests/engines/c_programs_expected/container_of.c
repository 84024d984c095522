#include <pthread.h>
#include <stddef.h>
#include <assert.h>
#define container_of(ptr, type, member) ({ const typeof(((type *)0)->member) *__mptr = (ptr); (type *)((char *)__mptr - offsetof(type, member)); })
struct list_head { struct list_head *next, *prev; };
#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)
#define list_for_each_entry(pos, head, member) \
    for (pos = container_of((head)->next, typeof(*pos), member); &pos->member != (head); \
         pos = container_of(pos->member.next, typeof(*pos), member))
struct item { int key; struct list_head link; int value; };
static LIST_HEAD(items);
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static void list_add(struct list_head *n, struct list_head *head)
{
    n->next = head->next;
    n->prev = head;
    head->next->prev = n;
    head->next = n;
}
static struct item one = { .key = 1, .value = 10 }, two = { .key = 2, .value = 20 };
static void *adder(void *arg)
{
    struct item *it = arg;
    pthread_mutex_lock(&guard);
    list_add(&it->link, &items);
    pthread_mutex_unlock(&guard);
    return NULL;
}
int main(void)
{
    pthread_t a, b;
    struct item *it;
    int sum = 0, keys = 0;
    pthread_create(&a, NULL, adder, &one);
    pthread_create(&b, NULL, adder, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    list_for_each_entry(it, &items, link) {
        sum += it->value;
        keys++;
    }
    assert(sum == 30 && keys == 2);
    return 0;
}
