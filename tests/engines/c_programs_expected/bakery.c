#include <pthread.h>
#include <assert.h>
#define N 2
static volatile unsigned char choosing[N];
static volatile unsigned number[N];
static int owner = -1;
static unsigned max_number(void)
{
    unsigned m = 0;
    for (int i = 0; i < N; i++) {
        unsigned n = number[i];
        m = n > m ? n : m;
    }
    return m;
}
static void lock(int me)
{
    choosing[me] = 1;
    number[me] = 1 + max_number();
    choosing[me] = 0;
    for (int j = 0; j < N; j++) {
        if (j == me)
            continue;
        while (choosing[j]) { }
        while (number[j] != 0 && (number[j] < number[me] || (number[j] == number[me] && j < me))) { }
    }
}
static void *proc(void *p)
{
    int me = (int)(long)p;
    lock(me);
    owner = me;
    assert(owner == me);
    number[me] = 0;
    return 0;
}
int main(void)
{
    pthread_t t[N];
    for (long i = 0; i < N; i++) pthread_create(&t[i], 0, proc, (void *)i);
    for (long i = 0; i < N; i++) pthread_join(t[i], 0);
}
