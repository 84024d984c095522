#include <pthread.h>
#include <assert.h>
static int x;
static void *leaf(void *p) { (*(int *)p)++; return p; }
static void *mid(void *p) { pthread_t t; int local = 41; pthread_create(&t, 0, leaf, &local); pthread_join(t, 0); x = local; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, mid, 0); pthread_join(t, 0); assert(x == 42); return 0; }
