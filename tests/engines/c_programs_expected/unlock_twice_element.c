#include <pthread.h>
/* A mutex of an array is released twice. */
pthread_mutex_t m[2];
void *a(void *p){ long k = (long)p; pthread_mutex_lock(&m[k]); pthread_mutex_unlock(&m[k]); pthread_mutex_unlock(&m[k]); return 0; }
int main(){ pthread_t t,u; pthread_create(&t,0,a,(void*)0); pthread_create(&u,0,a,(void*)1); pthread_join(t,0); pthread_join(u,0); return 0; }
