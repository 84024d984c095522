#include <pthread.h>
#include <stdint.h>
#include <assert.h>
static volatile uint8_t seq = 254;
static void *t(void *p) { for (int i = 0; i < 3; i++) seq++; return p; }
int main(void) { pthread_t x; pthread_create(&x, 0, t, 0); pthread_join(x, 0); assert(seq > 2); return 0; }
