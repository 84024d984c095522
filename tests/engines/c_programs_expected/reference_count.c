#include <stdatomic.h>
#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
typedef struct blob blob;
struct blob { atomic_size_t refs; size_t len; unsigned char bytes[4]; };
static blob *share(blob *b) { atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed); return b; }
static void drop(blob *b)
{
    if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        b->len = 0;
        free(b);
    }
}
static void *user(void *p)
{
    blob *b = p;
    assert(b->len == 4 && b->bytes[3] == 0xff);
    drop(b);
    return NULL;
}
int main(void)
{
    pthread_t s, t;
    blob *b = malloc(sizeof(blob));
    atomic_init(&b->refs, 1);
    b->len = 4;
    for (size_t i = 0; i < b->len; i++) b->bytes[i] = i == 3 ? 0xff : (unsigned char)i;
    pthread_create(&s, NULL, user, share(b));
    pthread_create(&t, NULL, user, share(b));
    drop(b);
    pthread_join(s, NULL); pthread_join(t, NULL);
    return 0;
}
