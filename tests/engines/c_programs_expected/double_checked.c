#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
struct singleton { int ready; int value; };
static struct singleton *volatile instance;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct singleton *get(void)
{
    if (instance == NULL) {
        pthread_mutex_lock(&m);
        if (instance == NULL) {
            struct singleton *s = (struct singleton *)malloc(sizeof(struct singleton));
            s->value = 7;
            s->ready = 1;
            instance = s;
        }
        pthread_mutex_unlock(&m);
    }
    return instance;
}
static void *use(void *p)
{
    struct singleton *s = get();
    assert(s->ready && s->value == 7);
    return NULL;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, use, NULL);
    pthread_create(&b, NULL, use, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
