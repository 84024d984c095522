#include <pthread.h>
#include <assert.h>
/* As many threads as count can count that far. */
volatile int x; 
void *inc(void *p){ int t = x; x = t + 1; return 0; }
void *chk(void *p){ assert(x < 6); return 0; }
int main(){ pthread_t t; pthread_create(&t,0,chk,0); for (int i = 0; i < 6; i++) pthread_create(&t,0,inc,0); return 0; }
