#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdnoreturn.h>
#include <assert.h>
#define CACHE 64
static_assert(CACHE == 64, "line");
struct padded { _Alignas(64) atomic_int v; };
static struct padded x, y; static int r0, r1;
static inline __attribute__((always_inline)) void put(struct padded *restrict p) { atomic_store_explicit(&p->v, 1, memory_order_relaxed); }
static void *a(void *u) { put(&x); r0 = atomic_load_explicit(&y.v, memory_order_relaxed); return u; }
static void *b(void *u) { put(&y); r1 = atomic_load_explicit(&x.v, memory_order_relaxed); return u; }
int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0); pthread_join(s, 0); pthread_join(t, 0); assert(r0 || r1); return 0; }
