// D = alpha * A * B^T + beta * C with tcgen05, one tile of 128 x 256 per block: the steps of CuTe's first tutorial for
// Blackwell, written by hand. A (m x k) and B (n x k) are halves, C and D floats. Without tensor maps. Not held against
// hardware.
//   tensor_gemm [uncommitted|unwaited|leak]   leaves out the commit, the wait for it, or the dealloc
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kRows = 256, kColumns = 512, kDepth = 192;
constexpr int kTileRows = 128, kTileColumns = 256, kTileDepth = 64, kProductDepth = 16;
constexpr int kThreads = 128;

enum class Mode { right, uncommitted, unwaited, leak };

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// A matrix with 64 halves a row (128 bytes), swizzled: eight rows are a pattern of 1024 bytes.
__device__ std::uint64_t matrix_descriptor(unsigned address) {
  constexpr std::uint64_t kVersion = 1ull << 46, kSwizzle128 = 2ull << 61, kStride = 1024 >> 4, kLeading = 1;
  return (address & 0x3ffff) >> 4 | kLeading << 16 | kStride << 32 | kVersion | kSwizzle128;
}

// Copies `rows` rows of 64 halves. The 16-byte pieces of a row are permuted by the row's number.
__device__ void copy_tile(__half* to, const __half* from, int rows) {
  for (int piece = threadIdx.x; piece < rows * 8; piece += kThreads) {
    const int row = piece / 8, column = piece % 8;
    const uint4 data = *reinterpret_cast<const uint4*>(from + row * kDepth + column * 8);
    *reinterpret_cast<uint4*>(to + row * 64 + (column ^ row % 8) * 8) = data;
  }
}

__device__ void wait_for(std::uint64_t* barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "wait: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra wait; }" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

__global__ void gemm(const __half* a, const __half* b, const float* c, float* d, float alpha, float beta, Mode mode) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ std::uint64_t barrier;
  __shared__ unsigned tensor_base;
  auto* const left = reinterpret_cast<__half*>(memory);
  __half* const right = left + kTileRows * kTileDepth;
  const unsigned warp = threadIdx.x / 32;
  const int first_row = blockIdx.x * kTileRows, first_column = blockIdx.y * kTileColumns;
  if (warp == 0) {
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(shared_address(&tensor_base))
        : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const unsigned sums = tensor_base;
  // F32 sums, A and B of F16, both K-major.
  constexpr unsigned kInstruction = 1u << 4 | (kTileColumns >> 3) << 17 | (kTileRows >> 4) << 24;
  unsigned parity = 0;
  for (int k = 0; k < kDepth; k += kTileDepth) {
    copy_tile(left, a + first_row * kDepth + k, kTileRows);
    copy_tile(right, b + first_column * kDepth + k, kTileColumns);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int part = 0; part < kTileDepth; part += kProductDepth) {
        const std::uint64_t left_descriptor = matrix_descriptor(shared_address(left + part)),
                            right_descriptor = matrix_descriptor(shared_address(right + part));
        asm volatile(
            "{ .reg .pred add; setp.ne.b32 add, %4, 0;\n"
            "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, add; }" ::"r"(sums),
            "l"(left_descriptor), "l"(right_descriptor), "r"(kInstruction), "r"(k + part)
            : "memory");
      }
      if (mode != Mode::uncommitted)
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                         shared_address(&barrier))
                     : "memory");
    }
    if (mode == Mode::right || mode == Mode::leak) wait_for(&barrier, parity);
    parity ^= 1;
    __syncthreads();
  }
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const int row = first_row + static_cast<int>(threadIdx.x);
  for (int j = 0; j < kTileColumns; j += 4) {
    unsigned r[4];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(sums + (warp << 21) + j));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    for (int e = 0; e < 4; ++e) {
      const int at = row * kColumns + first_column + j + e;
      d[at] = alpha * __uint_as_float(r[e]) + beta * c[at];
    }
  }
  __syncthreads();
  if (warp == 0 && mode != Mode::leak)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;" ::"r"(sums));
}

int main(int argc, char** argv) {
  const auto is = [&](const char* word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  const Mode mode = is("uncommitted") ? Mode::uncommitted
                    : is("unwaited")  ? Mode::unwaited
                    : is("leak")      ? Mode::leak
                                      : Mode::right;
  std::vector<__half> a(kRows * kDepth), b(kColumns * kDepth);
  std::vector<float> c(kRows * kColumns), d(kRows * kColumns);
  for (int i = 0; i < kRows * kDepth; ++i) a[i] = __float2half(static_cast<float>(i * 7 % 11 - 5));
  for (int i = 0; i < kColumns * kDepth; ++i) b[i] = __float2half(static_cast<float>(i * 5 % 13 - 6));
  for (int i = 0; i < kRows * kColumns; ++i) c[i] = static_cast<float>(i % 17 - 8);
  __half *da, *db;
  float *dc, *dd;
  cudaMalloc(&da, a.size() * sizeof(__half));
  cudaMalloc(&db, b.size() * sizeof(__half));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMalloc(&dd, d.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(__half), cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
  constexpr int kShared = (kTileRows + kTileColumns) * kTileDepth * sizeof(__half);
  cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  gemm<<<dim3(kRows / kTileRows, kColumns / kTileColumns), kThreads, kShared>>>(da, db, dc, dd, 2, 3, mode);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return std::printf("%s\n", cudaGetErrorName(error)), 1;
  cudaMemcpy(d.data(), dd, d.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      float sum = 0;  // whole numbers below 2^24: exact in any order
      for (int k = 0; k < kDepth; ++k) sum += __half2float(a[i * kDepth + k]) * __half2float(b[j * kDepth + k]);
      wrong += d[i * kColumns + j] != 2 * sum + 3 * c[i * kColumns + j];
    }
  std::printf("%d of %d wrong\n", wrong, kRows * kColumns);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  cudaFree(dd);
  return wrong != 0;
}
