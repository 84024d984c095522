#include <signal.h>
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
static volatile sig_atomic_t stop; static atomic_int n;
static void *w(void *p) { while (!stop) { if (atomic_fetch_add(&n, 1) == 2) stop = 1; } return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); assert(n == 3); return 0; }
