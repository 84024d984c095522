#include <pthread.h>
#include <stdlib.h>
#include <assert.h>
struct result { long sum; int n; };
static const int data[6] = { 1, 2, 3, 4, 5, 6 };
struct range { int from, to; };
static void *add(void *arg)
{
    struct range *r = arg;
    struct result *res = malloc(sizeof *res);
    res->sum = res->n = 0;
    for (int i = r->from; i < r->to; ++i) { res->sum += data[i]; ++res->n; }
    return res;
}
int main(void)
{
    struct range halves[2] = { { 0, 3 }, { 3, 6 } };
    pthread_t t[2];
    long sum = 0;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, add, &halves[i]);
    for (int i = 0; i < 2; i++) {
        void *p;
        pthread_join(t[i], &p);
        struct result *res = p;
        sum += res->sum;
        assert(res->n == 3);
        free(res);
    }
    assert(sum == 21);
    return 0;
}
