#include <pthread.h>
#include <unistd.h>
#include <stdio.h>
#define N 3
static pthread_mutex_t fork_[N];
static int eating[N];
#include <assert.h>
static void *philosopher(void *arg)
{
    int id = (int)(size_t)arg;
    int left = id, right = (id + 1) % N;
    if (left > right) { int t = left; left = right; right = t; }
    pthread_mutex_lock(&fork_[left]);
    pthread_mutex_lock(&fork_[right]);
    eating[id] = 1;
    assert(!eating[(id + 1) % N] && !eating[(id + N - 1) % N]);
    printf("%d eats\n", id);
    usleep(100);
    eating[id] = 0;
    pthread_mutex_unlock(&fork_[right]);
    pthread_mutex_unlock(&fork_[left]);
    return NULL;
}
int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&fork_[i], NULL);
    for (size_t i = 0; i < N; i++)
        pthread_create(&t[i], NULL, philosopher, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < N; i++)
        pthread_mutex_destroy(&fork_[i]);
    return 0;
}
