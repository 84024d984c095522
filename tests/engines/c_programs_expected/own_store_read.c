#include <pthread.h>
#include <assert.h>
/* SB with a read of the own store in between ("n6"-like forwarding). */
volatile int x, y; int a, b, c, d;
void *p0(void *u) { x = 1; a = x; b = y; return u; }
void *p1(void *u) { y = 1; c = y; d = x; return u; }
int main(void) {
    pthread_t t0, t1;
    pthread_create(&t0, 0, p0, 0); pthread_create(&t1, 0, p1, 0);
    pthread_join(t0, 0); pthread_join(t1, 0);
    assert(!(a == 1 && b == 0 && c == 1 && d == 0));
}
