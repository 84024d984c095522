#include <pthread.h>
#include <assert.h>
#include <stdint.h>
/* Single-producer single-consumer ring with volatile indices, as found in many drivers. */
#define SLOTS 2u
struct ring { volatile uint32_t in, out; int slot[SLOTS]; };
static struct ring r;
static int put(struct ring *q, int v)
{
    if (q->in - q->out == SLOTS)
        return 0;
    q->slot[q->in & (SLOTS - 1)] = v;
    q->in++;
    return 1;
}
static int get(struct ring *q, int *v)
{
    if (q->in == q->out)
        return 0;
    *v = q->slot[q->out & (SLOTS - 1)];
    q->out++;
    return 1;
}
static void *producer(void *q) { for (int i = 1; i <= 3; i++) while (!put(q, i)) ; return 0; }
static void *consumer(void *q)
{
    for (int i = 1; i <= 3; i++) {
        int v;
        while (!get(q, &v))
            ;
        assert(v == i);
    }
    return 0;
}
int main()
{
    pthread_t p, c;
    pthread_create(&p, 0, producer, &r);
    pthread_create(&c, 0, consumer, &r);
    pthread_join(p, 0);
    pthread_join(c, 0);
}
