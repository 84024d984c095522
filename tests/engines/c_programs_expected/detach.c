#include <pthread.h>
#include <stdio.h>
#include <assert.h>
#include <unistd.h>
static volatile int finished;
static void *bg(void *p) { pthread_detach(pthread_self()); finished = 1; return p; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, bg, NULL);
    sleep(1);
    assert(finished);      /* sleeping is no synchronisation */
    return 0;
}
