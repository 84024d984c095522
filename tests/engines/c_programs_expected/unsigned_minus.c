#include <pthread.h>
#include <assert.h>
static unsigned head, tail = 1;
static void *t(void *p) { unsigned left = head - tail; assert(left <= 8); return p; }
int main(void) { pthread_t x; pthread_create(&x, 0, t, 0); pthread_join(x, 0); return 0; }
