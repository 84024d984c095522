#ifndef FW_TIME_H
#define FW_TIME_H
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
struct timespec { time_t tv_sec; long tv_nsec; };
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCKS_PER_SEC 1000000L
struct timeval { time_t tv_sec; long tv_usec; };
unsigned int __VERIFIER_nondet_uint(void);
static time_t time(time_t *where) {
  time_t now = __VERIFIER_nondet_uint();
  if (where != NULL) *where = now;
  return now;
}
static int clock_gettime(clockid_t clock, struct timespec *now) {
  now->tv_sec = __VERIFIER_nondet_uint();
  now->tv_nsec = __VERIFIER_nondet_uint();
  return 0;
}
static int timespec_get(struct timespec *now, int base) {
  now->tv_sec = __VERIFIER_nondet_uint();
  now->tv_nsec = __VERIFIER_nondet_uint();
  return base;
}
static clock_t clock(void) { return __VERIFIER_nondet_uint(); }
int nanosleep(const struct timespec *wanted, struct timespec *left);
#define TIME_UTC 1
#endif
