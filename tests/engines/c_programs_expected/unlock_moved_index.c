#include <pthread.h>
/* The index of the mutex is read again before it is released, and somebody may have stored another one. */
pthread_mutex_t m[3]; int i;
void *a(void *p){ int k = i; if (k < 0 || k > 2) return 0; pthread_mutex_lock(&m[k]); pthread_mutex_unlock(&m[k]); return 0; }
void *b(void *p){ i = 1; int k = i; pthread_mutex_lock(&m[k]); k = i; if (k >= 0 && k <= 2) pthread_mutex_unlock(&m[k]); return 0; }
void *c(void *p){ i = 2; return 0; }
int main(){ pthread_t t,u,v; for (int j=0;j<3;j++) pthread_mutex_init(&m[j],0); pthread_create(&t,0,a,0); pthread_create(&u,0,b,0); pthread_create(&v,0,c,0); pthread_join(t,0); pthread_join(u,0); pthread_join(v,0); return 0; }
