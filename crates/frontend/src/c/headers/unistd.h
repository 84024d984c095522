#ifndef FW_UNISTD_H
#define FW_UNISTD_H
#include <stddef.h>
typedef long ssize_t;
typedef int pid_t;
typedef long off_t;
unsigned int sleep(unsigned int seconds);
int usleep(unsigned int microseconds);
int sched_yield(void);
#endif
