#include <pthread.h>
static int log_[3]; static int at;
static void *add(void *v) { int i = at; if (i < 3) { log_[at] = (int)(long)v; at++; } return 0; }
int main(void)
{
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, add, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 0;
}
