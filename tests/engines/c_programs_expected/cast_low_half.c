#include <pthread.h>
#include <stdint.h>
#include <stdatomic.h>
#include <assert.h>
static _Atomic uint64_t word = (7ull << 32) | 3;
static void *t(void *p) { uint64_t w = word; assert((uint32_t)w == 4); return p; }
int main(void) { pthread_t x; pthread_create(&x, 0, t, 0); pthread_join(x, 0); return 0; }
