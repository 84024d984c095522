#include <pthread.h>
#include <assert.h>
volatile int x, y; int r;
void *t(void *p) { y = 1; r = x; return 0; }
int main(void) { pthread_t h; pthread_create(&h, 0, t, 0); x = 1; int s = y; pthread_join(h, 0); assert(s || r); return 0; }
