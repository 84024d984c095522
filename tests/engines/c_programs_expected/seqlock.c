#include <pthread.h>
#include <assert.h>
#include <stdbool.h>
/* Kernel style macros, defined here. */
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) do { *(volatile typeof(x) *)&(x) = (v); } while (0)
#define barrier() __asm__ __volatile__("" : : : "memory")
#define smp_rmb() barrier()
#define smp_wmb() barrier()
typedef struct { unsigned sequence; } seqcount_t;
static seqcount_t seq;
static int a, b;
static inline unsigned read_seqbegin(const seqcount_t *s)
{
    unsigned ret;
    while ((ret = READ_ONCE(s->sequence)) & 1)
        ;
    smp_rmb();
    return ret;
}
static inline bool read_seqretry(const seqcount_t *s, unsigned start)
{
    smp_rmb();
    return READ_ONCE(s->sequence) != start;
}
static inline void write_seqbegin(seqcount_t *s) { WRITE_ONCE(s->sequence, s->sequence + 1); smp_wmb(); }
static inline void write_seqend(seqcount_t *s) { smp_wmb(); WRITE_ONCE(s->sequence, s->sequence + 1); }
static void *writer(void *unused)
{
    write_seqbegin(&seq);
    WRITE_ONCE(a, 1);
    WRITE_ONCE(b, 1);
    write_seqend(&seq);
    return unused;
}
static void *reader(void *unused)
{
    unsigned s;
    int x, y;
    do {
        s = read_seqbegin(&seq);
        x = READ_ONCE(a);
        y = READ_ONCE(b);
    } while (read_seqretry(&seq, s));
    assert(x == y);
    return unused;
}
int main(void)
{
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
