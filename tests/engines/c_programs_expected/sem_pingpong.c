#include <pthread.h>
#include <semaphore.h>
#include <assert.h>
static sem_t ping, pong; static int ball;
static void *p1(void *a) { for (int i = 0; i < 3; i++) { sem_wait(&ping); assert(ball % 2 == 0); ball++; sem_post(&pong); } return a; }
static void *p2(void *a) { for (int i = 0; i < 3; i++) { sem_wait(&pong); assert(ball % 2 == 1); ball++; sem_post(&ping); } return a; }
int main(void)
{
    pthread_t a, b;
    sem_init(&ping, 0, 1); sem_init(&pong, 0, 0);
    pthread_create(&a, 0, p1, 0); pthread_create(&b, 0, p2, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(ball == 6);
    sem_destroy(&ping); sem_destroy(&pong);
    return 0;
}
