#include <pthread.h>
#include <assert.h>
#define N 2
typedef volatile int shared_int;
static shared_int x = -1, y = -1, b[N];
static int X;
static void lock(int i)
{
start:
    b[i] = 1;
    x = i;
    if (y != -1) {
        b[i] = 0;
        while (y != -1) ;
        goto start;
    }
    y = i;
    if (x != i) {
        b[i] = 0;
        for (int j = 0; j < N; j++)
            while (b[j]) ;
        if (y != i) {
            while (y != -1) ;
            goto start;
        }
    }
}
static void unlock(int i) { y = -1; b[i] = 0; }
static void *p(void *a)
{
    int i = (int)(long)a;
    lock(i);
    X = i;
    assert(X == i);
    unlock(i);
    return 0;
}
int main(void)
{
    pthread_t t[N];
    pthread_create(&t[0], 0, p, (void *)0);
    pthread_create(&t[1], 0, p, (void *)1);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return 0;
}
