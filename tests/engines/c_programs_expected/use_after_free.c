#include <pthread.h>
#include <stdlib.h>
struct obj { int refs; int data; };
static struct obj *o;
static void *reader(void *a) { struct obj *p = o; if (p) { p->refs++; p->data = 1; p->refs--; } return a; }
static void *killer(void *a) { struct obj *p = o; o = NULL; if (p && p->refs == 0) free(p); return a; }
int main(void)
{
    pthread_t r, k;
    o = calloc(1, sizeof *o);
    pthread_create(&r, 0, reader, 0); pthread_create(&k, 0, killer, 0);
    pthread_join(r, 0); pthread_join(k, 0);
    return 0;
}
