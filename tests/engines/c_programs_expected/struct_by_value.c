#include <pthread.h>
#include <assert.h>
typedef struct { int a; struct { int b[2]; } in; } S;
static S make(int a) { S s = { a, { { a + 1, a + 2 } } }; return s; }
static int sum(S s) { s.a++; return s.a + s.in.b[0] + s.in.b[1]; }
static S g; static S arr[2];
static void *t(void *p)
{
    S s = make(1), u = s;
    u.in.b[1] = 10;
    g = (*(int *)p == 5) ? s : u;
    arr[1] = make(7);
    S *q = &arr[1];
    S copy = *q;
    assert(sum(s) == 7 && s.a == 1 && g.in.b[1] == 3 && copy.in.b[0] == 8 && make(2).in.b[1] == 4);
    return 0;
}
int main(void) { pthread_t x; static int five = 5; pthread_create(&x, 0, t, &five); pthread_join(x, 0); return 0; }
