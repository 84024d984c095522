#include <pthread.h>
#include <assert.h>
#define OTHER(i) (1 - (i))
#define ENTER(i)                                  \
    do {                                          \
        flag[i] = 1;                              \
        while (flag[OTHER(i)]) {                  \
            if (turn != (i)) {                    \
                flag[i] = 0;                      \
                while (turn != (i))               \
                    ;                             \
                flag[i] = 1;                      \
            }                                     \
        }                                         \
    } while (0)
#define LEAVE(i) do { turn = OTHER(i); flag[i] = 0; } while (0)
static volatile int flag[2], turn;
static int critical;
static void *left(void *v)  { ENTER(0); critical = 0; assert(critical == 0); LEAVE(0); return v; }
static void *right(void *v) { ENTER(1); critical = 1; assert(critical == 1); LEAVE(1); return v; }
int main(void)
{
    pthread_t l, r;
    pthread_create(&l, 0, left, 0);
    pthread_create(&r, 0, right, 0);
    pthread_join(l, 0);
    pthread_join(r, 0);
    return 0;
}
