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
int thrd_create(thrd_t *thread, thrd_start_t start, void *argument);
int thrd_join(thrd_t thread, int *result);
#endif
