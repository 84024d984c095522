#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <assert.h>
static int lines;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void logf_(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    pthread_mutex_lock(&m);
    vprintf(fmt, ap);
    lines++;
    pthread_mutex_unlock(&m);
    va_end(ap);
}
static void *t(void *p) { logf_("thread %d says %s\n", 1, "hello"); return p; }
int main(void) { pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0); pthread_join(a, 0); pthread_join(b, 0); assert(lines == 2); return 0; }
