#include <threads.h>
#include <stdatomic.h>
#include <assert.h>
#include <stdio.h>
static mtx_t mutex;
static cnd_t changed;
static int queue, done;
static int consumer(void *arg)
{
    int got = 0;
    mtx_lock(&mutex);
    while (!done || queue) {
        while (!queue && !done)
            cnd_wait(&changed, &mutex);
        if (queue) {
            queue--;
            got++;
        }
    }
    mtx_unlock(&mutex);
    printf("%s got %d\n", (const char *)arg, got);
    return got;
}
int main(void)
{
    thrd_t t;
    int got;
    if (mtx_init(&mutex, mtx_plain) != thrd_success || cnd_init(&changed) != thrd_success)
        return 1;
    thrd_create(&t, consumer, "consumer");
    for (int i = 0; i < 2; i++) {
        mtx_lock(&mutex);
        queue++;
        cnd_signal(&changed);
        mtx_unlock(&mutex);
    }
    mtx_lock(&mutex);
    done = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
    thrd_join(t, &got);
    assert(got == 2);
    mtx_destroy(&mutex);
    cnd_destroy(&changed);
    return 0;
}
