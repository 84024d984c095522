#include <pthread.h>
#include <assert.h>
static int dst[8];
static void copy(int *to, const int *from, int count)
{
    int n = (count + 3) / 4;
    switch (count % 4) {
    case 0: do { *to++ = *from++;
    case 3:      *to++ = *from++;
    case 2:      *to++ = *from++;
    case 1:      *to++ = *from++;
            } while (--n > 0);
    }
}
static void *t(void *p) { static const int src[] = { 1, 2, 3, 4, 5, 6, 7 }; copy(dst, src, 7); return p; }
int main(void) { pthread_t h; pthread_create(&h, 0, t, 0); pthread_join(h, 0); assert(dst[6] == 7 && dst[7] == 0); return 0; }
