#include <pthread.h>
#include <string.h>
#include <stdlib.h>
#include <assert.h>
struct e { char key[4]; int val; struct e *next; };
static struct e *tab[2]; static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static unsigned h(const char *s) { unsigned x = 5381; for (; *s; s++) x = x * 33 + (unsigned char)*s; return x; }
static void put(const char *k, int v) { struct e *n = malloc(sizeof *n); strncpy(n->key, k, sizeof n->key); n->val = v; pthread_rwlock_wrlock(&l); n->next = tab[h(k) % 2]; tab[h(k) % 2] = n; pthread_rwlock_unlock(&l); }
static int get(const char *k) { int r = -1; pthread_rwlock_rdlock(&l); for (struct e *i = tab[h(k) % 2]; i; i = i->next) if (!strcmp(i->key, k)) { r = i->val; break; } pthread_rwlock_unlock(&l); return r; }
static void *t(void *p) { put("a", 1); return p; }
static void *u(void *p) { put("b", 2); return p; }
int main(void) { pthread_t x, y; pthread_create(&x, 0, t, 0); pthread_create(&y, 0, u, 0); pthread_join(x, 0); pthread_join(y, 0); assert(get("a") == 1 && get("b") == 2 && get("c") == -1); return 0; }
