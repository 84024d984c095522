#include <pthread.h>
#include <assert.h>
#define N 2
static int A[N][N] = { { 1, 2 }, { 3, 4 } }, B[N][N] = { { 0, 1 }, { 1, 0 } }, C[N][N];
static void *row(void *arg) { int i = *(int *)arg; for (int j = 0; j < N; j++) { int s = 0; for (int k = 0; k < N; k++) s += A[i][k] * B[k][j]; C[i][j] = s; } return 0; }
int main(void) { pthread_t t[N]; int idx[N]; for (int i = 0; i < N; i++) { idx[i] = i; pthread_create(&t[i], 0, row, &idx[i]); } for (int i = 0; i < N; i++) pthread_join(t[i], 0); assert(C[0][0] == 2 && C[0][1] == 1 && C[1][0] == 4 && C[1][1] == 3); return 0; }
