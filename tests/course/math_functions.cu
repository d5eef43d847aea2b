// Functions of the device math library against the host's, within the bounds that CUDA documents.
#include "check.h"

// clang-format off
#define FUNCTIONS(F) \
  F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(exp) F(exp2) F(expm1) F(log) F(log2) \
  F(log10) F(log1p) F(sqrt) F(cbrt) F(erf) F(erfc) F(tgamma) F(lgamma) F(floor) F(ceil) F(trunc) F(round) F(rint)
// clang-format on

__global__ void evaluate(double x, double* d, float* f) {
  int i = 0;
#define F(name) d[i] = name(x), f[i++] = name((float)x);
  FUNCTIONS(F)
#undef F
  d[i] = pow(x, 2.5), f[i++] = powf((float)x, 2.5f);
  d[i] = atan2(x, 3.0), f[i++] = atan2f((float)x, 3.0f);
  d[i] = fmod(x + 5, 3.0), f[i++] = fmodf((float)x + 5, 3.0f);
  d[i] = hypot(x, 2.0), f[i++] = hypotf((float)x, 2.0f);
  d[i] = fma(x, 2.0, 1.0), f[i++] = fmaf((float)x, 2.0f, 1.0f);
  d[i] = rsqrt(x), f[i++] = rsqrtf((float)x);
  d[i] = sinpi(x), f[i++] = sinpif((float)x);
  double s, c;
  sincos(x, &s, &c);
  d[i] = s + c, f[i++] = __sinf((float)x) + __cosf((float)x);
  d[i] = max(x, 0.5) + min(3, 4) + abs(-2), f[i++] = fmaxf((float)x, 0.5f) + fminf(3, 4) + fabsf(-2.f);
  d[i] = __dadd_ru(x, 1e-300), f[i++] = __fadd_rd((float)x, -1e-30f);
  d[i] = __double2int_rn(x * 10), f[i++] = __float2int_rz((float)x * 10);
}

int main() {
  const int n = 38;
  double d[n], *device_d;
  float f[n], *device_f;
  CHECK(cudaMalloc(&device_d, sizeof d));
  CHECK(cudaMalloc(&device_f, sizeof f));
  for (double x : {0.125, 0.4375, 0.9375}) {
    evaluate<<<1, 1>>>(x, device_d, device_f);
    CHECK(cudaMemcpy(d, device_d, sizeof d, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(f, device_f, sizeof f, cudaMemcpyDeviceToHost));
    int i = 0;
#define F(name)                                               \
  expect_near(#name, i, d[i], std::name(x), 2e-15);           \
  expect_near(#name "f", i, f[i], std::name((float)x), 1e-6); \
  i++;
    FUNCTIONS(F)
#undef F
    const double more[] = {
        std::pow(x, 2.5), std::atan2(x, 3.0), std::fmod(x + 5, 3.0),     std::hypot(x, 2.0),    2 * x + 1,
        1 / std::sqrt(x), std::sin(M_PI * x), std::sin(x) + std::cos(x), std::fmax(x, 0.5) + 5, x};
    for (double expected : more) {
      expect_near("double", i, d[i], expected, 2e-15);
      expect_near("float", i, f[i], expected, 2e-6);
      i++;
    }
    expect(d[i - 1] > x && f[i - 1] < (float)x, "directed rounding", i, d[i - 1], x);
    expect_equal("__double2int_rn", i, d[i], std::nearbyint(x * 10));
    expect_equal("__float2int_rz", i, f[i], std::trunc(x * 10));
  }
  std::printf("math functions: right\n");
}
