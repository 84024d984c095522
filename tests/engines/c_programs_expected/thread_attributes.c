#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#include <errno.h>
static int balance = 100;
static void *withdraw(void *amount)
{
    int have = balance;
    if (have >= *(int *)amount)
        balance = have - *(int *)amount;
    pthread_exit(NULL);
}
int main(void)
{
    pthread_attr_t attr;
    pthread_t ids[2];
    int amounts[] = { 70, 60 }, rc;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE);
    pthread_attr_setstacksize(&attr, 1 << 16);
    for (int i = 0; i < 2; i++) {
        rc = pthread_create(&ids[i], &attr, withdraw, amounts + i);
        if (rc) {
            fprintf(stderr, "no thread: %d\n", rc);
            exit(EXIT_FAILURE);
        }
    }
    pthread_attr_destroy(&attr);
    pthread_join(ids[0], NULL);
    pthread_join(ids[1], NULL);
    assert(balance == 30 || balance == 40);
    balance == 30 ? puts("first") : puts("second");
    assert(balance != 40);
    return 0;
}
