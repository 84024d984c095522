#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER; static int done, open_;
static int work(int fail)
{
    int ret = -1; int *buf = NULL;
    pthread_mutex_lock(&a); open_++;
    if (fail == 1) goto out_a;
    pthread_mutex_lock(&b); open_++;
    buf = malloc(4 * sizeof *buf);
    if (!buf) goto out_b;
    buf[3] = fail;
    if (buf[3] == 2) goto out_free;
    ret = 0; done++;
out_free: free(buf);
out_b: open_--; pthread_mutex_unlock(&b);
out_a: open_--; pthread_mutex_unlock(&a);
    return ret;
}
static void *t(void *p) { int f = (int)(long)p; int r = work(f); assert((r == 0) == (f == 0)); return 0; }
int main(void) { pthread_t h[3]; for (long i = 0; i < 3; i++) pthread_create(&h[i], 0, t, (void *)i); for (int i = 0; i < 3; i++) pthread_join(h[i], 0); assert(done == 1 && open_ == 0); return 0; }
