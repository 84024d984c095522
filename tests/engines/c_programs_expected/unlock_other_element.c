#include <pthread.h>
/* A mutex of an array is taken, and another one is released because the index has changed. */
pthread_mutex_t m[2]; int i;
void *a(void *p){ pthread_mutex_lock(&m[i]); i = 1; pthread_mutex_unlock(&m[i]); return 0; }
int main(){ pthread_t t; pthread_mutex_init(&m[0],0); pthread_mutex_init(&m[1],0); pthread_create(&t,0,a,0); pthread_join(t,0); return 0; }
