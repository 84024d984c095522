#include <pthread.h>
#include <assert.h>
#include <stdbool.h>
static int v; static bool b; static unsigned char byte; static long long wide; static int *ptr; static int target[2];
static void *t(void *p)
{
    int got, want = 3;
    __atomic_store_n(&v, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&v, 1, __ATOMIC_RELEASE);
    __atomic_store(&v, &want, __ATOMIC_SEQ_CST);
    __atomic_load(&v, &got, __ATOMIC_CONSUME);
    assert(got == 3);
    assert(__atomic_fetch_add(&v, 2, __ATOMIC_ACQ_REL) == 3);
    assert(__atomic_add_fetch(&v, 1, __ATOMIC_ACQUIRE) == 6);
    assert(__atomic_fetch_nand(&v, 2, __ATOMIC_SEQ_CST) == 6);
    assert(v == ~2);
    assert(__atomic_fetch_xor(&v, -1, __ATOMIC_SEQ_CST) == ~2 && v == 2);
    assert(__atomic_or_fetch(&v, 5, __ATOMIC_SEQ_CST) == 7);
    assert(__atomic_and_fetch(&v, 6, __ATOMIC_SEQ_CST) == 6);
    want = 8;
    __atomic_exchange(&v, &want, &got, __ATOMIC_SEQ_CST);
    assert(got == 6 && v == 8);
    got = 9;
    assert(!__atomic_compare_exchange(&v, &got, &want, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) && got == 8);
    assert(__atomic_test_and_set(&b, __ATOMIC_ACQUIRE) == 0 && b);
    __atomic_clear(&b, __ATOMIC_RELEASE);
    assert(!b);
    byte = 255;
    assert(__atomic_add_fetch(&byte, 1, __ATOMIC_SEQ_CST) == 0);
    assert(__sync_bool_compare_and_swap(&wide, 0, 1LL << 40) && wide == 1LL << 40);
    __atomic_store_n(&ptr, target, __ATOMIC_RELEASE);
    __atomic_fetch_add(&ptr, sizeof(int), __ATOMIC_SEQ_CST);
    *ptr = 4;
    assert(target[1] == 4);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_ACQUIRE);
    assert(__atomic_always_lock_free(sizeof(int), 0));
    return p;
}
int main(void) { pthread_t th; pthread_create(&th, 0, t, 0); pthread_join(th, 0); return 0; }
