#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
#define rcu_assign_pointer(p, v) (*(volatile __typeof__(p) *)&(p) = (v))
#define rcu_dereference(p) (*(volatile __typeof__(p) *)&(p))
struct config { int port, timeout; };
static struct config *current;
static void *updater(void *arg)
{
    struct config *c = malloc(sizeof(struct config));
    *c = (struct config){ .port = 80, .timeout = 30 };
    rcu_assign_pointer(current, c);
    return NULL;
}
static void *user(void *arg)
{
    struct config *c = rcu_dereference(current);
    if (c) {
        assert(c->port == 80);
        assert(c->timeout == 30);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t u, v;
    pthread_create(&u, NULL, &updater, NULL);
    pthread_create(&v, NULL, &user, NULL);
    pthread_join(u, NULL);
    pthread_join(v, NULL);
    free(current);
    return EXIT_SUCCESS;
}
