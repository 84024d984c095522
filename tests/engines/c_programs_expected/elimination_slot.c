#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
/* Elimination back-off: a push and a pop may meet in a slot. */
static int *volatile slot;
static int out;
static void *pusher(void *v)
{
    int *mine = malloc(sizeof(int));
    *mine = 17;
    if (!__sync_bool_compare_and_swap(&slot, (int *)0, mine))
        free(mine);
    return 0;
}
static void *popper(void *v)
{
    int *theirs = __sync_lock_test_and_set(&slot, (int *)0);
    if (theirs) { out = *theirs; free(theirs); assert(out == 17); }
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, pusher, 0); pthread_create(&b, 0, popper, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(out == 0 || out == 17);
    return 0;
}
