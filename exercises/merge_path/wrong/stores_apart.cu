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
  __shared__ int s[kCount];  // the block's part of a, and behind it that of b; at the end what it stores
  const int t = threadIdx.x, first = blockIdx.x * kCount, last = min(first + kCount, na + nb);
  const int a_first = from_a(a, na, b, nb, first), b_first = first - a_first;
  const int ca = from_a(a, na, b, nb, last) - a_first, cb = last - first - ca;
  for (int k = t; k < ca; k += 128) s[k] = a[a_first + k];
  for (int k = t; k < cb; k += 128) s[ca + k] = b[b_first + k];
  __syncthreads();
  const int d = min(t * kEach, ca + cb);
  int mine[kEach], i = from_a(s, ca, s + ca, cb, d), j = d - i;
  for (int k = 0; k < kEach; ++k)
    if (d + k < ca + cb) {
      const bool takes_a = j >= cb || (i < ca && s[i] <= s[ca + j]);
      mine[k] = takes_a ? s[i++] : s[ca + j++];
    }
  for (int k = 0; k < kEach; ++k)
    if (d + k < ca + cb) out[first + d + k] = mine[k];
}
