#include <pthread.h>
#include <assert.h>
#include <stdbool.h>
typedef void (*job_fn)(void *);
typedef struct job { job_fn run; void *arg; } job_t;
#define MAX 4
static job_t jobs[MAX];
static int njobs, next_job;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static int results[2];
static void square(void *p) { int *r = p; *r = *r * *r; }
static void negate(void *p) { int *r = p; *r = -*r; }
static void submit(job_fn f, void *a) { jobs[njobs++] = (job_t){ f, a }; }
static bool fetch(job_t *j)
{
    bool ok = false;
    pthread_mutex_lock(&mu);
    if (next_job < njobs) { *j = jobs[next_job++]; ok = true; }
    pthread_mutex_unlock(&mu);
    return ok;
}
static void *pool(void *unused) { job_t j; while (fetch(&j)) j.run(j.arg); return unused; }
int main(void)
{
    pthread_t t[2];
    results[0] = 3; results[1] = 4;
    submit(square, &results[0]);
    submit(negate, &results[1]);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, pool, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(results[0] == 9 && results[1] == -4);
    return 0;
}
