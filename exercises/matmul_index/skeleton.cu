// Element (y, x) of C is the sum of a[y][i] * b[i][x] over i.
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {}
