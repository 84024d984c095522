#include <pthread.h>
#include <assert.h>
/* A reader-writer lock in one word: -1 a writer, else how many readers. */
static int word;
static int x, y;
static void read_lock(int *w)
{
    for (;;) {
        int v = __atomic_load_n(w, __ATOMIC_RELAXED);
        if (v >= 0 && __atomic_compare_exchange_n(w, &v, v + 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            break;
    }
}
static void read_unlock(int *w) { __atomic_sub_fetch(w, 1, __ATOMIC_RELEASE); }
static void write_lock(int *w)
{
    int zero;
    do
        zero = 0;
    while (!__atomic_compare_exchange_n(w, &zero, -1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
}
static void write_unlock(int *w) { __atomic_store_n(w, 0, __ATOMIC_RELEASE); }
void *reader(void *a)
{
    read_lock(&word);
    assert(x == y);
    read_unlock(&word);
    return a;
}
void *writer(void *a)
{
    write_lock(&word);
    x++, y++;
    write_unlock(&word);
    return a;
}
int main(void)
{
    pthread_t r1, r2, w;
    pthread_create(&r1, 0, reader, 0);
    pthread_create(&r2, 0, reader, 0);
    pthread_create(&w, 0, writer, 0);
    pthread_join(r1, 0); pthread_join(r2, 0); pthread_join(w, 0);
    return 0;
}
