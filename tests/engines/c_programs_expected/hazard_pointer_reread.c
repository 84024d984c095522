#include <stdatomic.h>
#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
/* The same with the fence that it needs. */
struct obj { int v; };
static _Atomic(struct obj *) cur; static _Atomic(struct obj *) hp;
void *reader(void *a){ struct obj *p; do { p = atomic_load(&cur); atomic_store_explicit(&hp, p, memory_order_relaxed);
#if 1
 atomic_thread_fence(memory_order_seq_cst);
#endif
 } while (p != atomic_load(&cur)); assert(p->v == 7); atomic_store_explicit(&hp, NULL, memory_order_release); return 0; }
void *writer(void *a){ struct obj *n = malloc(sizeof *n); n->v = 7; struct obj *o = atomic_exchange(&cur, n); while (atomic_load(&hp) == o) ; free(o); return 0; }
int main(){ struct obj *n = malloc(sizeof *n); n->v = 7; atomic_store(&cur, n); pthread_t a, b; pthread_create(&a,0,reader,0); pthread_create(&b,0,writer,0); pthread_join(a,0); pthread_join(b,0); return 0; }
