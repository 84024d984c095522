#ifndef FW_PTHREAD_H
#define FW_PTHREAD_H
#include <stddef.h>
#include <sched.h>
#include <time.h>
typedef unsigned long pthread_t;
typedef int pthread_attr_t;
typedef struct { int __fw_lock; } pthread_mutex_t;
typedef int pthread_mutexattr_t;
typedef struct { int __fw_cond; } pthread_cond_t;
typedef int pthread_condattr_t;
typedef struct { int __fw_lock; } pthread_rwlock_t;
typedef int pthread_rwlockattr_t;
typedef struct { int __fw_lock; } pthread_spinlock_t;
typedef struct { int __fw_waiting; int __fw_size; int __fw_round; } pthread_barrier_t;
typedef int pthread_barrierattr_t;
typedef unsigned int pthread_key_t;
typedef int pthread_once_t;
#define PTHREAD_MUTEX_INITIALIZER { 0 }
#define PTHREAD_COND_INITIALIZER { 0 }
#define PTHREAD_RWLOCK_INITIALIZER { 0 }
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 5
#define PTHREAD_MUTEX_DEFAULT 0
#define PTHREAD_CANCELED ((void *)-1)
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int pthread_join(pthread_t thread, void **result);
pthread_t pthread_self(void);
#define FW_KEYS 8
static _Thread_local void *__fw_values[FW_KEYS];
static void (*__fw_destructors[FW_KEYS])(void *);
static unsigned int __fw_keys;
static int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  __fw_destructors[__fw_keys] = destructor;
  *key = __fw_keys;
  __fw_keys = __fw_keys + 1;
  return 0;
}
static int pthread_key_delete(pthread_key_t key) { return 0; }
static void *pthread_getspecific(pthread_key_t key) { return __fw_values[key]; }
static int pthread_setspecific(pthread_key_t key, const void *value) {
  __fw_values[key] = (void *)value;
  return 0;
}
static void __fw_thread_ends(void) {
  for (unsigned int key = 0; key < __fw_keys; key++) {
    void *value = __fw_values[key];
    void (*destructor)(void *) = __fw_destructors[key];
    if (value != NULL && destructor != NULL) {
      __fw_values[key] = NULL;
      destructor(value);
    }
  }
}
static int pthread_once(pthread_once_t *once, void (*routine)(void)) {
  if (__sync_bool_compare_and_swap(once, 0, 1)) {
    routine();
    __sync_synchronize();
    *once = 2;
    __sync_synchronize();
  } else {
    while (*once != 2) ;
  }
  return 0;
}
#endif
