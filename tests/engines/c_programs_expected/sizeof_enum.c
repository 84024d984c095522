#include <pthread.h>
#include <assert.h>
#include <stdint.h>
#include <stddef.h>
#include <limits.h>
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
enum { A = 1, B = A << 3, C = sizeof(long) + B, D = -1 };
struct s { char c; int i; short h; long l; };
union u { uint32_t w; uint8_t b[4]; };
_Static_assert(sizeof(struct s) == 24, "padding");
_Static_assert(offsetof(struct s, h) == 8, "offset");
static int table[][3] = { { 1, 2, 3 }, { 4, 5 }, [3] = { [1] = 7 } };
static uint8_t u8; static int16_t s16; static unsigned u32;
static void *t(void *p)
{
    assert(ARRAY_SIZE(table) == 4 && table[1][2] == 0 && table[3][1] == 7);
    assert(C == 16 && D < 0 && MAX(A, B) == 8);
    u8 = 250; u8 += 10; assert(u8 == 4);
    s16 = (int16_t)40000; assert(s16 == -25536);
    u32 = 0; u32--; assert(u32 == UINT_MAX && u32 > INT_MAX);
    assert(-1 > 0u);
    assert((1 ? -1 : 0u) > 0);
    assert(sizeof(char) + sizeof 'a' == 5);
    assert((-7) / 2 == -3 && (-7) % 2 == -1 && -8 >> 1 == -4);
    assert((u8 ^ 0xff) == 251 && ~u8 == -5 && !u8 == 0);
    int i = 0, j = (i++, i + 1);
    assert(i == 1 && j == 2 && (i == 1 || 1 / (i - 1)));
    for (i = 0, j = 10; i < j; i++, j--) ;
    assert(i == 5 && j == 5);
    union u v = { .w = 0x01020304 };
    assert(v.b[0] == 4 && v.b[3] == 1);
    return p;
}
int main(void) { pthread_t th; pthread_create(&th, 0, t, 0); pthread_join(th, 0); return 0; }
