#include <pthread.h>
#include <assert.h>
struct p { int x, y; };
static struct p a[] = { 1, 2, 3, 4 };
static struct p b[] = { { 1, 2 }, 3, 4 };
static int m[][2] = { 1, 2, 3 };
static void *t(void *u) { assert(sizeof a / sizeof *a == 2 && a[1].y == 4 && sizeof b == 16 && b[1].x == 3 && sizeof m == 16 && m[1][1] == 0); return u; }
int main(void) { pthread_t x; pthread_create(&x, 0, t, 0); pthread_join(x, 0); return 0; }
