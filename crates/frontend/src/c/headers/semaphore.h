#ifndef FW_SEMAPHORE_H
#define FW_SEMAPHORE_H
typedef struct { int __fw_value; } sem_t;
int sem_init(sem_t *semaphore, int shared, unsigned int value);
int sem_destroy(sem_t *semaphore);
int sem_wait(sem_t *semaphore);
int sem_trywait(sem_t *semaphore);
int sem_post(sem_t *semaphore);
#endif
