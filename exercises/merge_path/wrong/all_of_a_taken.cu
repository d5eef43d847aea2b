constexpr int kEach = 8;             // numbers that a thread writes
constexpr int kCount = 128 * kEach;  // numbers that a block writes

// How many of the first d numbers of the merged array come from a.
__device__ int from_a(const int* a, int na, const int* b, int nb, int d) {
  int low = max(0, d - nb), high = min(d, na);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a[middle] <= b[d - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__global__ void merge(const int* a, int na, const int* b, int nb, int* out) {
  const int d = min(blockIdx.x * kCount + threadIdx.x * kEach, na + nb);
  int i = from_a(a, na, b, nb, d), j = d - i;
  for (int k = d; k < min(d + kEach, na + nb); ++k) {
    const bool takes_a = j >= nb || a[i] <= b[j];
    out[k] = takes_a ? a[i++] : b[j++];
  }
}
