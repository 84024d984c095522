#include <stdatomic.h>
#include <pthread.h>
#include <assert.h>
/* The owner of a deque looks at the other end before others see that it takes. */
#define N 4
static atomic_int top, bottom; static atomic_int buf[N]; static atomic_int taken[N];
static void push(int v){ int b = atomic_load_explicit(&bottom, memory_order_relaxed); atomic_store_explicit(&buf[b % N], v, memory_order_relaxed); atomic_store_explicit(&bottom, b + 1, memory_order_release); }
static int take(void){ int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1; atomic_store_explicit(&bottom, b, memory_order_relaxed);
#ifdef FENCE
  atomic_thread_fence(memory_order_seq_cst);
#endif
  int t = atomic_load_explicit(&top, memory_order_relaxed);
  if (t > b) { atomic_store_explicit(&bottom, b + 1, memory_order_relaxed); return -1; }
  int v = atomic_load_explicit(&buf[b % N], memory_order_relaxed);
  if (t == b) { int e = t; if (!atomic_compare_exchange_strong(&top, &e, t + 1)) v = -1; atomic_store_explicit(&bottom, b + 1, memory_order_relaxed); }
  return v; }
static int steal(void){ int t = atomic_load_explicit(&top, memory_order_acquire); atomic_thread_fence(memory_order_seq_cst); int b = atomic_load_explicit(&bottom, memory_order_acquire);
  if (t >= b) return -1; int v = atomic_load_explicit(&buf[t % N], memory_order_relaxed); int e = t; return atomic_compare_exchange_strong(&top, &e, t + 1) ? v : -1; }
static void got(int v){ if (v >= 0) assert(atomic_fetch_add(&taken[v], 1) == 0); }
void *owner(void *p){ push(0); push(1); got(take()); got(take()); return 0; }
void *thief(void *p){ got(steal()); got(steal()); return 0; }
int main(){ pthread_t a, b; pthread_create(&a,0,owner,0); pthread_create(&b,0,thief,0); pthread_join(a,0); pthread_join(b,0); }
