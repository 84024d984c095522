#include <pthread.h>
#include <assert.h>
/* Two variables that make each other grow stop when all threads have stored. */
volatile int x, y;
void *f(void *p){ y = x + 1; return 0; }
void *g(void *p){ x = y + 1; return 0; }
void *chk(void *p){ assert(x <= 4); return 0; }
int main(){ pthread_t t; pthread_create(&t,0,f,0); pthread_create(&t,0,g,0); pthread_create(&t,0,f,0); pthread_create(&t,0,g,0); pthread_create(&t,0,chk,0); return 0; }
