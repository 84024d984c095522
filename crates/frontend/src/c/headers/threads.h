#ifndef FW_THREADS_H
#define FW_THREADS_H
#include <time.h>
#define thread_local _Thread_local
typedef unsigned long thrd_t;
typedef int (*thrd_start_t)(void *);
typedef struct { int __fw_lock; } mtx_t;
typedef struct { int __fw_cond; } cnd_t;
enum { thrd_success = 0, thrd_busy = 1, thrd_error = 2, thrd_nomem = 3, thrd_timedout = 4 };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };
typedef int once_flag;
#define ONCE_FLAG_INIT 0
static void call_once(once_flag *once, void (*routine)(void)) {
  if (__sync_bool_compare_and_swap(once, 0, 1)) {
    routine();
    __sync_synchronize();
    *once = 2;
    __sync_synchronize();
  } else {
    while (*once != 2) ;
  }
}
int thrd_create(thrd_t *thread, thrd_start_t start, void *argument);
int thrd_join(thrd_t thread, int *result);
#endif
