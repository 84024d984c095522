#include <pthread.h>
#include <assert.h>
enum state { IDLE, PREPARE, READY = 5, DONE };
static volatile enum state st;
static volatile int payload;
static void *machine(void *u)
{
again:
    switch (st) {
    case IDLE:
        payload = 1;
        /* fall through */
    case PREPARE:
        payload += 1;
        st = READY;
        goto again;
    case READY:
        break;
    default:
        goto out;
    }
    st = DONE;
    goto again;
out:
    return u;
}
static void *watch(void *u)
{
    if (st >= READY)
        assert(payload == 2);
    return u;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, machine, 0);
    pthread_create(&b, 0, watch, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(st == DONE);
    return 0;
}
