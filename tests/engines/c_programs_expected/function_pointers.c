#include <pthread.h>
#include <assert.h>
struct ops { const char *name; void (*write)(int); int (*read)(void); };
static volatile int x, y;
static int seen[2];
static void write_x(int v) { x = v; }
static void write_y(int v) { y = v; }
static int read_x(void) { return x; }
static int read_y(void) { return y; }
static const struct ops table[] = {
    { "first", write_x, read_y },
    { .name = "second", .read = read_x, .write = write_y },
};
static void *run(void *arg)
{
    const struct ops *o = &table[(int)(long)arg];
    o->write(1);
    seen[(long)arg] = (*o->read)();
    return NULL;
}
int main(void)
{
    pthread_t t[2];
    void *(*entry)(void *) = run;
    for (long i = 0; i < (long)(sizeof table / sizeof *table); i++)
        pthread_create(&t[i], NULL, entry, (void *)i);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    assert(seen[0] + seen[1] > 0);
    return 0;
}
