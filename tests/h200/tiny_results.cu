// Results around the least normal number, of products, sums and multiply-adds compiled with -ftz=true: the same bits as
// an H200 gave (driver 580.159.04, CUDA 13.0, 2026-11-30). What is tiny is decided as if exponents had no limit: the
// result (1 - 2^-24) * 2^-126 becomes 0, although without the flush it rounds to the least normal number.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void products(const float* a, const float* b, const float*, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] * b[i];
}
__global__ void multiply_adds(const float* a, const float* b, const float* c, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = fmaf(a[i], b[i], c[i]);
}
__global__ void sums(const float* a, const float* b, const float*, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] + b[i];
}

namespace {

constexpr int kElements = 1 << 20, kThreads = 256;

std::uint32_t state = 1;
std::uint32_t random_bits() {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}
float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Arrays {
  float *a, *b, *c, *out;
};

// Factors whose product is near 2^-126; half of them have significands near 2 or 1.
void fill_factors(std::vector<float>& a, std::vector<float>& b, std::vector<float>& c) {
  for (int i = 0; i < kElements; ++i) {
    const std::uint32_t first = (i & 1) ? 0x7fffff - (random_bits() & 7) : random_bits() & 0x7fffff;
    const std::uint32_t second = (i & 2) ? random_bits() & 7 : random_bits() & 0x7fffff;
    const std::uint32_t exponent = 60 + random_bits() % 8;
    a[i] = from_bits(exponent << 23 | first | (random_bits() & 1) << 31);
    b[i] = from_bits((128 - exponent - random_bits() % 3) << 23 | second);
    const std::uint32_t c_exponent = random_bits() % 3, c_bits = random_bits() & 3;
    c[i] = from_bits(c_exponent << 23 | c_bits | (random_bits() & 1) << 31);
  }
  a[0] = from_bits(0x3f7fffff), b[0] = from_bits(0x00800000);
}

void fill_terms(std::vector<float>& a, std::vector<float>& b) {
  const auto term = [] {
    const std::uint32_t exponent = random_bits() % 3, significand = random_bits() & 0x7fffff;
    return from_bits(exponent << 23 | significand | (random_bits() & 1) << 31);
  };
  for (int i = 0; i < kElements; ++i) a[i] = term(), b[i] = term();
}

template <class Kernel>
bool same(const char* name, Kernel kernel, const Arrays& on, std::uint64_t expected) {
  std::vector<std::uint32_t> bits(kElements);
  kernel<<<kElements / kThreads, kThreads>>>(on.a, on.b, on.c, on.out);
  if (cudaMemcpy(bits.data(), on.out, kElements * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return false;
  std::uint64_t sum = 0;
  for (const std::uint32_t b : bits) sum = sum * 31 + b;
  std::printf("%s: %016" PRIx64 ", %s\n", name, sum, sum == expected ? "right" : "wrong");
  return sum == expected;
}

}  // namespace

int main() {
  Arrays on{};
  for (float** p : {&on.a, &on.b, &on.c, &on.out})
    if (cudaMalloc(p, kElements * sizeof(float)) != cudaSuccess) return 1;
  std::vector<float> a(kElements), b(kElements), c(kElements);
  const auto copy = [&] {
    cudaMemcpy(on.a, a.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(on.b, b.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(on.c, c.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);
  };
  fill_factors(a, b, c);
  copy();
  bool good = same("products", products, on, 0xfc7e4498e29b169eu);
  good = same("multiply-adds", multiply_adds, on, 0x52442d7387056949u) && good;
  fill_terms(a, b);
  copy();
  good = same("sums", sums, on, 0x89b14f7d75cee1ddu) && good;
  return good ? 0 : 1;
}
