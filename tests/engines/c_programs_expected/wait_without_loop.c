#include <pthread.h>
#include <assert.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int items;
static void *cons(void *p) { pthread_mutex_lock(&m); if (items == 0) pthread_cond_wait(&c, &m); items--; assert(items >= 0); pthread_mutex_unlock(&m); return p; }
static void *prod(void *p) { pthread_mutex_lock(&m); items++; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); return p; }
int main(void) { pthread_t t[3]; pthread_create(t, 0, cons, 0); pthread_create(t+1, 0, cons, 0); pthread_create(t+2, 0, prod, 0); for (int i = 0; i < 3; i++) pthread_join(t[i], 0); return 0; }
