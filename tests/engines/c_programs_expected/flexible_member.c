#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
struct msg { int len; int body[]; };
static struct msg *m;
static void *t(void *p) { assert(m->len == 2 && m->body[1] == 5); return p; }
int main(void) { pthread_t h; m = malloc(sizeof(struct msg) + 2 * sizeof(int)); m->len = 2; m->body[0] = 4; m->body[1] = 5; pthread_create(&h, 0, t, 0); pthread_join(h, 0); return 0; }
