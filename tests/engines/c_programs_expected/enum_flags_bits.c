#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <assert.h>
typedef enum flag { F_INIT = 1 << 0, F_READY = 1 << 1, F_CLOSED = 1 << 2, F_ALL = F_INIT | F_READY | F_CLOSED } flag_t;
static atomic_uint flags = F_INIT;
static bool set_flag(flag_t f) { return !(atomic_fetch_or(&flags, f) & f); }
static bool clear_flag(flag_t f) { return atomic_fetch_and(&flags, ~(unsigned)f) & f; }
static int firsts;
static void *t(void *p) { if (set_flag(F_READY)) firsts++; clear_flag(F_CLOSED); return p; }
int main(void) { pthread_t x, y; pthread_create(&x, 0, t, 0); pthread_create(&y, 0, t, 0); pthread_join(x, 0); pthread_join(y, 0); assert(firsts == 1 && flags == (F_ALL & ~F_CLOSED)); return 0; }
