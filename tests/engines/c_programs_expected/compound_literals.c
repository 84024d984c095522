#include <pthread.h>
#include <assert.h>
struct point { int x, y; };
struct line { struct point from, to; char name[8]; };
static struct point add(struct point a, struct point b) { return (struct point){ a.x + b.x, a.y + b.y }; }
static int total(const int *v, int n) { int s = 0; while (n-- > 0) s += *v++; return s; }
static struct line l;
static void *t(void *arg)
{
    struct point p = *(struct point *)arg, q = { 3, 4 };
    struct line m = { p, q, "ab" };
    struct line n = { .to = q, .from.x = 9 };
    struct point ps[] = { p, q, { 5 } };
    m.from = add(m.from, m.to);
    assert(m.from.x == 4 && m.from.y == 6 && m.name[1] == 'b' && m.name[2] == 0);
    assert(n.to.y == 4 && n.from.x == 9 && n.from.y == 0);
    assert(ps[0].x == 1 && ps[1].y == 4 && ps[2].x == 5 && ps[2].y == 0);
    assert(total((int[]){ 1, 2, 3 }, 3) == 6);
    l = m;
    return 0;
}
int main(void)
{
    pthread_t th;
    pthread_create(&th, 0, t, &(struct point){ 1, 2 });
    pthread_join(th, 0);
    assert(l.to.x == 3 && l.name[0] == 'a');
    return 0;
}
