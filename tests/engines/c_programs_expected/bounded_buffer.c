#include <pthread.h>
#include <semaphore.h>
#include <assert.h>
#define SIZE 2
#define ITEMS 3
typedef struct { int items[SIZE]; int head, tail, count; pthread_mutex_t lock; pthread_cond_t not_full, not_empty; } buffer_t;
static buffer_t buf = { .lock = PTHREAD_MUTEX_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER };
static void insert(buffer_t *b, int x)
{
    pthread_mutex_lock(&b->lock);
    while (b->count == SIZE)
        pthread_cond_wait(&b->not_full, &b->lock);
    b->items[b->tail] = x;
    b->tail = (b->tail + 1) % SIZE;
    b->count++;
    pthread_cond_signal(&b->not_empty);
    pthread_mutex_unlock(&b->lock);
}
static int take(buffer_t *b)
{
    int x;
    pthread_mutex_lock(&b->lock);
    while (b->count == 0)
        pthread_cond_wait(&b->not_empty, &b->lock);
    x = b->items[b->head];
    b->head = (b->head + 1) % SIZE;
    --b->count;
    pthread_cond_signal(&b->not_full);
    pthread_mutex_unlock(&b->lock);
    return x;
}
static void *produce(void *a) { for (int i = 0; i < ITEMS; i++) insert(&buf, i * i); return a; }
static void *consume(void *a) { for (int i = 0; i < ITEMS; i++) assert(take(&buf) == i * i); return a; }
int main(void)
{
    pthread_t p, c;
    pthread_create(&p, 0, produce, 0);
    pthread_create(&c, 0, consume, 0);
    pthread_join(p, 0);
    pthread_join(c, 0);
    assert(buf.count == 0);
    return 0;
}
