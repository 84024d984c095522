#include <pthread.h>
#include <assert.h>
/* A sequence counter without barriers of its writer. */
typedef unsigned int u32;
#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x) *)&(x) = (v))
#define smp_wmb() __asm__ __volatile__("":::"memory")
#define smp_rmb() __asm__ __volatile__("":::"memory")
#define cpu_relax() __asm__ __volatile__("pause":::"memory")
struct seqcount { u32 sequence; } s;
int d1, d2;
static inline u32 read_seqbegin(struct seqcount *s){ u32 r; while ((r = READ_ONCE(s->sequence)) & 1) cpu_relax(); smp_rmb(); return r; }
static inline int read_seqretry(struct seqcount *s, u32 start){ smp_rmb(); return READ_ONCE(s->sequence) != start; }
static inline void write_seqbegin(struct seqcount *s){ WRITE_ONCE(s->sequence, s->sequence + 1); smp_wmb(); }
static inline void write_seqend(struct seqcount *s){ smp_wmb(); WRITE_ONCE(s->sequence, s->sequence + 1); }
void *writer(void *arg){ for (int i = 0; i < 2; i++) { write_seqbegin(&s); d1++; d2++; write_seqend(&s); } return NULL; }
void *reader(void *arg){ u32 q; int a, b; do { q = read_seqbegin(&s); a = d1; b = d2; } while (read_seqretry(&s, q)); assert(a == b); return NULL; }
int main(){ pthread_t t[2]; pthread_create(&t[0], NULL, writer, NULL); pthread_create(&t[1], NULL, reader, NULL); for (int i=0;i<2;i++) pthread_join(t[i], NULL); }
