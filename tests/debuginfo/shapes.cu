// Types, spaces and scopes for tests/unit/debuginfo_*_test.cpp, which name lines of this file. Compiled by record.py.
#ifdef PLAIN_CLANG  // without any header
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
struct __half { unsigned short x; };
struct __nv_fp8x4_e4m3 { unsigned int x; };
static __device__ int lane() { return __nvvm_read_ptx_sreg_tid_x(); }
#else
#include <cuda_fp8.h>
static __device__ int lane() { return threadIdx.x; }
#endif
namespace geo {
enum class Colour : unsigned char { red, green = 5, blue };
enum Sign { minus = -1, zero, plus };
struct Base {
  long id;
};
template <typename T, int N>
struct Vec : Base {
  T v[N];
  Colour colour;
  unsigned low : 3;
  unsigned high : 13;
  int negative : 7;
  Vec *next;
  static int count;
  __device__ T at(int i) const { return v[i] + static_cast<T>(low); }
};
union Word {
  float f;
  unsigned u;
  unsigned char bytes[4];
};
}  // namespace geo
using Vec3 = geo::Vec<float, 3>;
__constant__ float weights[3][5];
__device__ int counter;
static __device__ double hidden = 2;
namespace geo {
__device__ short inside[2];
}
__device__ __noinline__ float sum(const Vec3 &v, int scale) {
  float total = 0;
  for (int k = 0; k < 3; ++k) {
    float part = v.at(k);
    total += part * scale;
  }
  return total;
}
__global__ void shapes(const Vec3 *in, float *out, int n, geo::Word word, volatile int **table) {
  __shared__ float tile[4][8];
  __shared__ geo::Word words[2];
  int i = lane();
  tile[i & 3][i & 7] = weights[1][2];
  words[i & 1] = word;
  __syncthreads();
  Vec3 local = in[i];
  __half h = {};
  __nv_fp8x4_e4m3 quad = {};
  geo::Sign sign = n > 3 ? geo::plus : geo::minus;
  const bool inside = i < n;
  if (inside) {
    float n = tile[1][2];
    {
      double n = hidden;
      local.v[1] = static_cast<float>(n);
    }
    out[i] = n + sum(local, counter) + reinterpret_cast<unsigned short &>(h) +
             reinterpret_cast<unsigned &>(quad) + sign + words[0].f + geo::inside[1] + *table[0];
  }
  counter = i;
}
