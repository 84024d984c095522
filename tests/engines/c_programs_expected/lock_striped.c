#include <pthread.h>
#include <assert.h>
/* Which mutex is taken depends on a value that changes, but not between taking and releasing it. */
pthread_mutex_t m[4]; int d[4]; volatile int pick;
void *a(void *p){ int k = pick & 3; pthread_mutex_lock(&m[k]); d[k]++; d[k]--; assert(d[k] == 0); pthread_mutex_unlock(&m[k]); return 0; }
void *c(void *p){ pick = 2; return 0; }
int main(){ pthread_t t[4]; for (int j=0;j<4;j++) pthread_mutex_init(&m[j],0); pthread_create(&t[0],0,a,0); pthread_create(&t[1],0,a,0); pthread_create(&t[2],0,c,0); for (int j=0;j<3;j++) pthread_join(t[j],0); return 0; }
