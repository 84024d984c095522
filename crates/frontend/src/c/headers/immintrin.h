#ifndef FW_IMMINTRIN_H
#define FW_IMMINTRIN_H
static void _mm_mfence(void) { __asm__ volatile("mfence" ::: "memory"); }
static void _mm_sfence(void) { __asm__ volatile("sfence" ::: "memory"); }
static void _mm_lfence(void) { __asm__ volatile("lfence" ::: "memory"); }
#endif
