// half, bfloat16 and the 8-bit types: arithmetic, conversions, comparisons, pairs, atomics, on both sides.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "check.h"

template <class T, class T2>
__global__ void compute(float* out, T* sum, T a, T b) {
  const T c = a * b + a;
  out[0] = (float)c;
  out[1] = (float)__hfma(a, b, a);
  out[2] = (float)(a / b);
  out[3] = (float)__hmax(a, b);
  out[4] = a > b;
  T2 v, w;
  v.x = a, v.y = b;
  w.x = b, w.y = a;
  v = __hadd2(__hmul2(v, w), w);
  out[5] = __low2float(v);
  out[6] = __high2float(v);
  out[7] = (float)hsqrt(a);
  out[8] = (float)hexp(T(0.0f));
  out[9] = __hisnan(a);
  atomicAdd(sum, a);
}

// Integers to bfloat16 in each direction, and back to bytes.
__global__ void directed(int* out) {
  out[0] = __bfloat16_as_ushort(__int2bfloat16_rz(257));
  out[1] = __bfloat16_as_ushort(__uint2bfloat16_ru(257));
  out[2] = __bfloat16_as_ushort(__short2bfloat16_rd(-257));
  out[3] = __bfloat16_as_ushort(__ll2bfloat16_ru((1ll << 60) + 1));
  out[4] = __bfloat16_as_ushort(__ull2bfloat16_rz(~0ull));
  out[5] = __half_as_ushort(__int2half_rz(70000));
  out[6] = __bfloat162uchar_rz(__float2bfloat16(300.0f));
  out[7] = __bfloat162char_rz(__float2bfloat16(-3.7f));
}

template <class T, class T2>
void run(const char* name, double epsilon) {
  float out[10], *device;
  T *sum, result;
  CHECK(cudaMalloc(&device, sizeof out));
  CHECK(cudaMalloc(&sum, 4));
  CHECK(cudaMemset(sum, 0, 4));
  const float a = 1.5f, b = 2.25f;
  compute<T, T2><<<1, 8>>>(device, sum, T(a), T(b));
  CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
  const double expected[] = {a * b + a, a * b + a, a / b, b, 0, a * b + b, a * b + a, std::sqrt(a), 1, 0};
  for (int i = 0; i < 10; i++) expect_near(name, i, out[i], expected[i], epsilon);
  expect_equal("atomicAdd", 0, (float)result, 12);
}

int main() {
  run<__half, __half2>("half", 1e-3);
  run<__nv_bfloat16, __nv_bfloat162>("bfloat16", 8e-3);
  // Every half there is comes back from float, and halfway cases round to even.
  for (unsigned bits = 0; bits < 65536; bits++) {
    const __half h = __ushort_as_half((unsigned short)bits);
    if (__half2float(h) != __half2float(h)) continue;
    expect_equal("half to float and back", bits, __half_as_ushort(__float2half(__half2float(h))), bits);
  }
  expect_equal("halfway", 0, __half_as_ushort(__float2half(2049.0f)), 0x6800);
  expect_equal("halfway", 1, __half_as_ushort(__float2half(2051.0f)), 0x6802);
  expect_equal("too large", 0, __half_as_ushort(__float2half(65520.0f)), 0x7c00);
  expect_equal("to zero", 0, __half_as_ushort(__float2half_rz(65519.0f)), 0x7bff);
  expect_equal("up", 0, __half_as_ushort(__float2half_ru(1.0f + 1e-6f)), 0x3c01);
  expect_equal("smallest", 0, __half_as_ushort(__float2half(5.9604645e-8f)), 1);
  expect_equal("bfloat16", 0, __bfloat16_as_ushort(__float2bfloat16(1.00390625f)), 0x3f80);
  for (unsigned bits = 0; bits < 256; bits++) {
    __nv_fp8_e4m3 v;
    v.__x = (__nv_fp8_storage_t)bits;
    const float f = (float)v;
    if (f == f) expect_equal("e4m3 to float and back", bits, __nv_fp8_e4m3(f).__x, bits);
  }
  expect_equal("e4m3, too large", 0, __nv_fp8_e4m3(1000.0f).__x, 0x7e);
  expect_equal("e4m3, halfway", 0, __nv_fp8_e4m3(1.0625f).__x, 0x38);
  expect_equal("e5m2", 0, (float)__nv_fp8_e5m2(1.3f), 1.25);
  expect_equal("half of bfloat16", 0, (float)static_cast<__half>(__nv_bfloat16(1.5f)), 1.5);
  expect_equal("bfloat16 of half", 0, (float)static_cast<__nv_bfloat16>(__half(-2.0f)), -2);
  expect_equal("e5m2 of a long", 0, __nv_fp8_e5m2(-3L).__x, 0xc2);
  expect_equal("unsigned char of e4m3", 0, (unsigned char)__nv_fp8_e4m3(17u), 16);
  // Four from pairs of each type, the first in the lowest byte.
  const float four[4] = {1.0f, -0.5f, 448.0f, 0.25f};
  const unsigned int packed = 0x287eb038;
  const __half2 half_low(four[0], four[1]), half_high(four[2], four[3]);
  const __nv_bfloat162 low(four[0], four[1]), high(four[2], four[3]);
  expect_equal("e4m3 of float4", 0, __nv_fp8x4_e4m3(make_float4(four[0], four[1], four[2], four[3])).__x, packed);
  expect_equal("e4m3 of half2", 0, __nv_fp8x4_e4m3(half_low, half_high).__x, packed);
  expect_equal("e4m3 of bfloat162", 0, __nv_fp8x4_e4m3(low, high).__x, packed);
  const float2 back = (float2)__nv_fp8x2_e5m2(make_double2(0.75, -6.0));
  expect_equal("e5m2 of double2", 0, back.x, 0.75);
  expect_equal("e5m2 of double2", 1, back.y, -6);
  expect_equal("half2 of e4m3", 0, __high2float((__half2)__nv_fp8x2_e4m3(half_low)), -0.5);
  int directions[8], *device;
  CHECK(cudaMalloc(&device, sizeof directions));
  directed<<<1, 1>>>(device);
  CHECK(cudaMemcpy(directions, device, sizeof directions, cudaMemcpyDeviceToHost));
  const int rounded[] = {0x4380, 0x4381, 0xc381, 0x5d81, 0x5f7f, 0x7bff, 255, -3};
  for (int i = 0; i < 8; i++) expect_equal("directed", i, directions[i], rounded[i]);
#if CUDART_VERSION >= 12080
  // A power of two, upwards; 0 is the smallest, infinity the largest.
  const double numbers[] = {1, 1.5, -3, 0, 6e-39, 2e38, 1e39, INFINITY};
  const int codes[] = {127, 128, 129, 0, 1, 254, 254, 254};
  for (int i = 0; i < 8; i++) expect_equal("e8m0", i, __nv_fp8_e8m0(numbers[i]).__x, codes[i]);
  expect_equal("e8m0, NaN", 0, __nv_fp8_e8m0(NAN).__x, 255);
  expect_equal("e8m0, downwards", 0, __nv_cvt_float_to_e8m0(1e38f, __NV_NOSAT, cudaRoundZero), 253);
  expect_equal("e8m0, too large", 0, __nv_cvt_double_to_e8m0(1e39, __NV_NOSAT, cudaRoundZero), 254);
  expect_equal("e8m0, infinite", 0, __nv_cvt_float_to_e8m0(INFINITY, __NV_NOSAT, cudaRoundZero), 255);
  expect_equal("e8m0 to float", 0, (float)__nv_fp8_e8m0(3.0f), 4);
  expect_equal("e8m0 to float", 1, (float)__nv_fp8_e8m0(0.0f), 5.8774717541114375e-39);
  expect_equal("e8m0 of integers", 0, __nv_fp8_e8m0(5u).__x, 130);
  expect_equal("e8m0 of integers", 1, __nv_fp8_e8m0(-1000ll).__x, 137);
  expect_equal("integers of e8m0", 0, (int)__nv_fp8_e8m0(100.0f), 128);
  expect_equal("integers of e8m0", 1, (signed char)__nv_fp8_e8m0(100.0f), 127);
  expect_equal("integers of e8m0", 2, (unsigned long long)__nv_fp8_e8m0(0.3f), 0);
#endif
  std::printf("half precision: right\n");
}
