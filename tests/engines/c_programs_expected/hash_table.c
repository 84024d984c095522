#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <assert.h>
#define CAP 4
static struct entry { _Atomic uint32_t key; _Atomic uint32_t value; } table[CAP];
static uint32_t hash(uint32_t h) { h ^= h >> 3; h *= 5; return h; }
static void set(uint32_t key, uint32_t value)
{
    for (uint32_t i = hash(key);; i++) {
        i &= CAP - 1;
        uint32_t probed = atomic_load_explicit(&table[i].key, memory_order_relaxed);
        if (probed != key) {
            if (probed != 0)
                continue;
            uint32_t expected = 0;
            if (!atomic_compare_exchange_strong_explicit(&table[i].key, &expected, key, memory_order_relaxed, memory_order_relaxed)
                && expected != key)
                continue;
        }
        atomic_store_explicit(&table[i].value, value, memory_order_relaxed);
        return;
    }
}
static uint32_t get(uint32_t key)
{
    for (uint32_t i = hash(key);; i++) {
        i &= CAP - 1;
        uint32_t probed = atomic_load_explicit(&table[i].key, memory_order_relaxed);
        if (probed == key) return atomic_load_explicit(&table[i].value, memory_order_relaxed);
        if (probed == 0) return 0;
    }
}
static void *w(void *a) { uint32_t k = (uint32_t)(uintptr_t)a; set(k, k * 10); return 0; }
int main(void)
{
    pthread_t t[3];
    for (uintptr_t i = 0; i < 3; i++) pthread_create(&t[i], 0, w, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    for (uint32_t k = 1; k <= 3; k++) assert(get(k) == 10 * k);
    return 0;
}
