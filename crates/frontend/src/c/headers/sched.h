#ifndef FW_SCHED_H
#define FW_SCHED_H
struct sched_param { int sched_priority; };
int sched_yield(void);
#endif
