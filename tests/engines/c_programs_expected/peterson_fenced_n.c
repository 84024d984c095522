#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
#define N 3
static atomic_int level[N], last[N];
static int inside;
static void lock(int me)
{
    for (int l = 1; l < N; l++) {
        atomic_store(&level[me], l);
        atomic_store(&last[l], me);
        for (int k = 0; k < N; k++) {
            if (k == me) continue;
            while (atomic_load(&level[k]) >= l && atomic_load(&last[l]) == me) ;
        }
    }
}
static void unlock(int me) { atomic_store(&level[me], 0); }
static void *t(void *a) { int me = (int)(long)a; lock(me); inside++; assert(inside == 1); inside--; unlock(me); return 0; }
int main(void)
{
    pthread_t th[N];
    for (long i = 0; i < N; i++) pthread_create(&th[i], 0, t, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(th[i], 0);
    return 0;
}
