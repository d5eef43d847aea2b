// Chains of one operation: how long one warp waits for its result, and how many of them an SM does at a time. Each
// case runs 256 and 768 rounds, so that the difference is that of 512 rounds. lab/results/h200/operations.csv has the
// cycles of an H200, and compare_operations.py the estimates beside them. Each case runs twice, and its label is
// printed in the order of the launches: operation, warps of an SM, rounds. `operations 1`: only those of one warp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "cases.h"

using Long = unsigned long long;
struct Two {
  float a, b;
};

namespace {

constexpr unsigned kAll = 0xffffffffu;
__constant__ unsigned g_constants[64];
__device__ unsigned g_words[64];
extern __shared__ unsigned s_words[];
#define s_floats (reinterpret_cast<float*>(s_words))

template <class T>
__device__ T seed(unsigned t);
template <>
__device__ float seed<float>(unsigned t) {
  return 1.25f + t * 0.001f;
}
template <>
__device__ double seed<double>(unsigned t) {
  return 1.25 + t * 0.001;
}
template <>
__device__ unsigned seed<unsigned>(unsigned t) {
  return 12345u + t * 77;
}
template <>
__device__ int seed<int>(unsigned t) {
  return 12345 + t * 77;
}
template <>
__device__ Long seed<Long>(unsigned t) {
  return 123456789012345ull + t * 77;
}
template <>
__device__ __half2 seed<__half2>(unsigned) {
  return __floats2half2_rn(1.0f, 0.5f);
}
template <>
__device__ __nv_bfloat162 seed<__nv_bfloat162>(unsigned) {
  return __floats2bfloat162_rn(1.0f, 0.5f);
}
template <>
__device__ Two seed<Two>(unsigned) {
  return {1.0f, 0.5f};
}

// ---- Operations that are more than an expression

__device__ __noinline__ float called(float x, float y) {
  return x * y + 1.0f;
}
__device__ __noinline__ float called_too(float x, float y) {
  return x * y - 1.0f;
}
using Function = float (*)(float, float);
__device__ Function g_functions[2] = {called, called_too};
__device__ __forceinline__ float pointed(float x, float y) {
  return g_functions[y > 3.0f](x, y);
}
__device__ __forceinline__ unsigned branched(unsigned x, unsigned y, unsigned z) {
  if (__any_sync(kAll, x == y)) {
    asm volatile("bar.warp.sync 0xffffffff;");
    x += z;
  }
  return x + 1;
}
__device__ __forceinline__ unsigned diverged(unsigned x, unsigned y, unsigned z) {
  if (threadIdx.x & 1) {
    for (unsigned i = 0; i < (z & 3); ++i) x = x * y + i;
  } else {
    x ^= z;
  }
  return x;
}
__device__ __forceinline__ unsigned ifmax(unsigned x, unsigned y, unsigned z) {
  unsigned r = z;
  if (x > r) {
    r = x;
    y = r + 1;
  }
  return r + y;
}
__device__ __forceinline__ unsigned switched(unsigned x, unsigned y, unsigned z) {
  switch (y & 7) {
    case 0:
      return x * z;
    case 1:
      return x + z;
    case 2:
      return x ^ z;
    case 3:
      return x - z;
    case 4:
      return x * x;
    case 5:
      return x / 3;
    case 6:
      return __popc(x);
    default:
      return x * 7 + z;
  }
}
__device__ __forceinline__ Two packed(Two x, Two, Two z) {
  const __nv_bfloat162 p = __floats2bfloat162_rn(x.a, x.b);
  return {__low2float(p) + z.a, __high2float(p) + z.b};
}
__device__ __forceinline__ unsigned shared_store(unsigned x) {
  s_words[threadIdx.x & 31] = x;
  __syncwarp();
  return s_words[(threadIdx.x + 1) & 31];
}
__device__ __forceinline__ float sine_and_cosine(float x) {
  float a, b;
  sincosf(x, &a, &b);
  return a + b;
}

// X(name, type, next value of x)
// clang-format off
#define OPERATIONS(X) \
  X(fadd, float, x + y) X(ffma, float, x * y + z) X(fdiv, float, y / x) X(fdivide, float, __fdividef(y, x)) \
  X(frcp, float, 1.0f / x) X(frcp_rn, float, __frcp_rn(x)) X(fsqrt, float, sqrtf(x) + z) \
  X(frsqrt, float, rsqrtf(x)) X(fexp, float, expf(-x)) X(fexp_fast, float, __expf(-x)) X(fexp2, float, exp2f(-x)) \
  X(flog, float, logf(x) + z) X(flog_fast, float, __logf(x) + z) X(flog2, float, log2f(x) + z) \
  X(fpow, float, powf(x, y)) X(fpow_fast, float, __powf(x, y)) X(fsin, float, sinf(x) + z) \
  X(fcos, float, cosf(x) + z) X(fsin_fast, float, __sinf(x) + z) X(ftan, float, tanf(x) * 0.1f + z) \
  X(fatan, float, atanf(x) + z) X(fatan2, float, atan2f(y, x) + z) X(ftanh, float, tanhf(x) + z) \
  X(ferf, float, erff(x) + z) X(fmod, float, fmodf(z, x) + y) X(fcbrt, float, cbrtf(x) + z) \
  X(facos, float, acosf(x * 0.25f) + z) X(fround, float, rintf(x) + z) X(ffloor, float, floorf(x) + z) \
  X(fmaxmin, float, fmaxf(x, y) - z) X(fabs, float, fabsf(x) - z) X(hypot, float, hypotf(x, y) * 0.5f) \
  X(lgamma, float, lgammaf(x) + z) X(dadd, double, x + y) X(dfma, double, x * y + z) X(ddiv, double, y / x) \
  X(dsqrt, double, sqrt(x) + z) X(drsqrt, double, rsqrt(x)) X(dexp, double, exp(-x)) X(dlog, double, log(x) + z) \
  X(dpow, double, pow(x, y)) X(dsin, double, sin(x) + z) X(dtanh, double, tanh(x) + z) X(derf, double, erf(x) + z) \
  X(dfmod, double, fmod(z, x) + y) X(dmax, double, fmax(x, y) - z) X(datan, double, atan(x) + z) \
  X(dcbrt, double, cbrt(x) + z) X(iadd, unsigned, x + y ^ z) X(imul, unsigned, x * y + z) \
  X(imulhi, unsigned, __umulhi(x, y) + z) X(udiv, unsigned, z / (x | 1)) X(umod, unsigned, z % (x | 1)) \
  X(sdiv, int, z / (x | 1)) X(smod, int, z % (x | 1)) X(udiv_const, unsigned, x / 7u + z) \
  X(umod_const, unsigned, x % 1000003u + z) X(smod_pow2, int, x % 64 + z) X(u64add, Long, (x + y) ^ z) \
  X(u64mul, Long, x * y + z) X(u64mulhi, Long, __umul64hi(x, y) + z) X(udiv64, Long, z / (x | 1)) \
  X(umod64, Long, z % (x | 1)) X(umod64_const, Long, x % 1000000007ull + z) X(ishift, unsigned, (x << 3) ^ y) \
  X(ivshift, unsigned, (x >> (y & 7)) + z) X(u64shift, Long, (x >> (y & 7)) + z) X(popc, unsigned, __popc(x) + z) \
  X(clz, unsigned, __clz(x) + z) X(brev, unsigned, __brev(x) + z) X(ffs, unsigned, __ffs(x) + z) \
  X(imin, int, min(x, y) - z) X(iabs, int, abs(x) - z) X(prmt, unsigned, __byte_perm(x, y, 0x2143) + z) \
  X(bfe, unsigned, ((x >> 5) & 255) + z) X(funnel, unsigned, __funnelshift_l(x, y, 7)) \
  X(dp4a, unsigned, __dp4a(x, y, z)) X(sad, unsigned, __usad(x, y, z)) X(vadd4, unsigned, __vaddus4(x, y)) \
  X(vmax4, unsigned, __vmaxu4(x, y) + z) X(f2i, float, float(int(x) + 1)) X(f2d, float, float(double(x) + 1.0)) \
  X(d2i, double, double(int(x) + 1)) X(u64tof, float, float((Long)x + 1ull)) \
  X(d2ll, double, double((long long)x + 1ll)) X(f2h, float, __half2float(__float2half(x)) + z) \
  X(f2bf, float, __bfloat162float(__float2bfloat16(x)) + z) X(hfma2, __half2, __hfma2(x, y, z)) \
  X(hadd2, __half2, __hadd2(x, y)) X(h2exp, __half2, h2exp(__hneg2(x))) X(hdiv2, __half2, __h2div(y, x)) \
  X(shfl, unsigned, __shfl_xor_sync(kAll, x, 5) + z) X(shfl64, Long, __shfl_xor_sync(kAll, x, 5) + z) \
  X(shfld, double, __shfl_down_sync(kAll, x, 5) + z) \
  X(ballot, unsigned, __ballot_sync(kAll, x & 1) + threadIdx.x + z) X(any, unsigned, __any_sync(kAll, x == y) + x) \
  X(match, unsigned, __match_any_sync(kAll, x & 3) + x + z) X(reduce, unsigned, __reduce_add_sync(kAll, x) + z) \
  X(activemask, unsigned, __activemask() + x) X(syncwarp, unsigned, (__syncwarp(), x + y)) \
  X(call, float, called(x, y)) X(select, unsigned, (x & 1) ? x + y : x ^ z) X(branch, unsigned, branched(x, y, z)) \
  X(diverge, unsigned, diverged(x, y, z)) X(hmul2, __half2, __hmul2(x, y)) X(hmax2, __half2, __hmax2(x, y)) \
  X(hmin_add, __half2, __hadd2(__hmin2(x, y), z)) X(bffma, __nv_bfloat162, __hfma2(x, y, z)) \
  X(bfadd, __nv_bfloat162, __hadd2(x, y)) X(bfpack, Two, packed(x, y, z)) X(dmin, double, fmin(x, y) + z) \
  X(drcp, double, 1.0 / x) X(dadd3, double, x * 0.7 + 0.3) X(fconst, float, x * 0.7f + 0.3f) \
  X(fdiv_const, float, x / 3.0f + z) X(ddiv_const, double, x / 3.0 + z) X(popc64, Long, __popcll(x) + z) \
  X(clz64, Long, __clzll(x) + z) X(u64min, Long, min(x, y) + z) X(i64shift, Long, (x << 5) ^ y) \
  X(u64cmp, Long, x < y ? x + z : x - z) X(fcmp, float, x < y ? x + z : x - z) \
  X(fcmpif, float, x * (x < y ? z : y)) X(ifstore, unsigned, ifmax(x, y, z)) X(switch, unsigned, switched(x, y, z)) \
  X(fnptr, float, pointed(x, y)) X(shld, unsigned, s_words[x & 31] + x) X(shst, unsigned, shared_store(x)) \
  X(shatom, unsigned, atomicAdd(&s_words[threadIdx.x & 31], x)) \
  X(shatomf, float, atomicAdd(&s_floats[threadIdx.x & 31], x)) X(ldconst, unsigned, g_constants[x & 63] + x) \
  X(local, unsigned, (local[x & 7] = x, local[(x + y) & 7] + z)) X(gld, unsigned, g_words[x & 31] + x) \
  X(gatom, unsigned, atomicAdd(&g_words[32 + (threadIdx.x & 31)], 0u) + x) \
  X(bar, unsigned, (__syncthreads(), x + y)) X(fence, unsigned, (__threadfence_block(), x + y)) \
  X(clock, unsigned, x + (unsigned)clock64()) X(lop, unsigned, (x & y) | (x ^ z)) \
  X(rotl, unsigned, ((x << 7) | (x >> 25)) ^ y) X(fmin3, float, fminf(fminf(x, y), z) - y) \
  X(sincos, float, sine_and_cosine(x) + z) X(roundd, double, rint(x) + z) X(floord, double, floor(x) + z) \
  X(f2e4m3, float, float(__nv_fp8_e4m3(x)) + z)
// clang-format on

#define KERNEL(name, T, next)                                        \
  __global__ void k_##name(const T* operands, T* out, int rounds) {  \
    unsigned local[8] = {};                                          \
    (void)local;                                                     \
    T x = seed<T>(threadIdx.x);                                      \
    const T y = operands[0], z = operands[1];                        \
    (void)y, (void)z;                                                \
    _Pragma("unroll 4") for (int i = 0; i < rounds; ++i) x = (next); \
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;                  \
  }
OPERATIONS(KERNEL)

void operands(float (&of)[2]) {
  of[0] = 0.99f, of[1] = 1.5f;
}
void operands(double (&of)[2]) {
  of[0] = 0.99, of[1] = 1.5;
}
void operands(unsigned (&of)[2]) {
  of[0] = 7919, of[1] = 3000000019u;
}
void operands(int (&of)[2]) {
  of[0] = 7919, of[1] = 2000000011;
}
void operands(Long (&of)[2]) {
  of[0] = 7919, of[1] = 0xfedcba9876543210ull;
}
void operands(__half2 (&of)[2]) {
  of[0] = __floats2half2_rn(0.5f, 0.5f), of[1] = __floats2half2_rn(0.25f, 0.25f);
}
void operands(__nv_bfloat162 (&of)[2]) {
  of[0] = __floats2bfloat162_rn(0.5f, 0.5f), of[1] = __floats2bfloat162_rn(0.25f, 0.25f);
}
void operands(Two (&of)[2]) {
  of[0] = {0.5f, 0.5f}, of[1] = {0.25f, 0.25f};
}

template <class T>
void run(const char* name, void (*kernel)(const T*, T*, int), bool only_one, void* in, void* out) {
  T values[2];
  operands(values);
  CHECK(cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice));
  constexpr std::size_t kShared = 128;
  for (const int warps : {1, 32}) {
    if (only_one && warps > 1) break;
    for (const int rounds : {256, 768})
      twice(label(name, {static_cast<std::size_t>(warps), static_cast<std::size_t>(rounds)}), [&] {
        kernel<<<warps == 1 ? 1 : 132, warps * 32, kShared>>>(static_cast<T*>(in), static_cast<T*>(out), rounds);
      });
  }
}

}  // namespace

int main(int argc, char**) {
  void *in = nullptr, *out = nullptr;
  constexpr std::size_t kIn = 64, kOut = std::size_t{132} * 1024 * 16;
  CHECK(cudaMalloc(&in, kIn));
  CHECK(cudaMalloc(&out, kOut));
#define RUN(name, T, next) run<T>(#name, k_##name, argc > 1, in, out);
  OPERATIONS(RUN)
}
