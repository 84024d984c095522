#include <pthread.h>
#include <assert.h>
/* What goes through arguments and results of threads grows as often as somebody stores. */
volatile long x;
void *g(void *p){ x = (long)p + 1; return (void*)x; }
void *f(void *p){ pthread_t t; void *r; pthread_create(&t,0,g,(void*)x); pthread_join(t,&r); x = (long)r + 1; return 0; }
void *chk(void *p){ assert(x <= 4); return 0; }
int main(){ pthread_t t; pthread_create(&t,0,f,0); pthread_create(&t,0,f,0); pthread_create(&t,0,chk,0); return 0; }
