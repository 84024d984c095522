#include <pthread.h>
#include <assert.h>
struct proc { struct { volatile int want; int round; } ctl; struct { int in; } stat[1]; };
static struct proc procs[2];
static volatile int turn;
static void *run(void *arg)
{
    struct proc *me = arg;
    int i = me - procs;
    struct proc *you = procs + (i ^ 1);
    for (int r = 0; r < 2; r++) {
        me->ctl.want = 1;
        turn = i ^ 1;
        while (you->ctl.want && turn != i)
            ;
        me->stat->in = 1;
        assert(!you->stat[0].in);
        me->stat->in = 0;
        me->ctl.round++;
        me->ctl.want = 0;
    }
    return 0;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(t + i, 0, run, &procs[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(procs[0].ctl.round == 2 && procs[1].ctl.round == 2);
    return 0;
}
