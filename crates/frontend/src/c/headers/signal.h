#ifndef FW_SIGNAL_H
#define FW_SIGNAL_H
typedef int sig_atomic_t;
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIGINT 2
#define SIGALRM 14
#define SIGTERM 15
void (*signal(int number, void (*handler)(int)))(int);
#endif
