#include <pthread.h>
#include <assert.h>
#include <stddef.h>
struct tree { int key; struct tree *left, *right; };
static struct tree t3 = { 3, NULL, NULL }, t1 = { 1, NULL, NULL }, root = { 2, &t1, &t3 };
static int sum(const struct tree *t) { return t ? sum(t->left) + t->key + sum(t->right) : 0; }
static int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void *w(void *p) { int s = sum(p); pthread_mutex_lock(&m); total += s; pthread_mutex_unlock(&m); return NULL; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, w, root.left);
    pthread_create(&b, NULL, w, &root);
    pthread_join(a, NULL); pthread_join(b, NULL);
    assert(total == 7 && fact(5) == 120);
    return 0;
}
