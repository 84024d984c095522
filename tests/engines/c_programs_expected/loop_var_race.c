#include <pthread.h>
#include <assert.h>
/* The classic mistake: every thread gets the address of the loop variable. */
static int seen[3];
static void *t(void *arg) { int i = *(int *)arg; if (i < 3) seen[i] = 1; return 0; }
int main(void) { pthread_t h[3]; int i; for (i = 0; i < 3; i++) pthread_create(&h[i], 0, t, &i); for (int j = 0; j < 3; j++) pthread_join(h[j], 0); assert(seen[0] && seen[1] && seen[2]); return 0; }
