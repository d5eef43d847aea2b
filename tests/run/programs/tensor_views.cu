// Tensor copies and their readers, for `warpgrind explain`: cases/tensor_views.toml holds what each line must show.
#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdio>

static CUtensorMap encode(void* data, int rank, const cuuint64_t* sizes, const cuuint32_t* box,
                          CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  cuuint64_t strides[2] = {sizes[0] * 2, sizes[0] * sizes[1] * 2};
  const cuuint32_t steps[3] = {1, 1, 1};
  CUtensorMap map;
  if (reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
          &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, static_cast<cuuint32_t>(rank), data, sizes, strides, box, steps,
          CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill) != CUDA_SUCCESS)
    std::printf("no map\n");
  return map;
}

static __device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

static __device__ __forceinline__ void wait(unsigned barrier) {
  asm volatile(
      "{ .reg .pred done;\nagain: mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n@!done bra again; }" ::"r"(
          barrier)
      : "memory");
}

static __device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// clang-format off
#define LOAD_2D(to, map, x, y, bar) asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(bar) : "memory")
#define LOAD_3D(to, map, x, y, z, bar) asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(z), "r"(bar) : "memory")
#define STORE_2D(map, x, y, from) asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(from) : "memory")
#define PREFETCH_2D(map, x, y) asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(x), "r"(y) : "memory")
#define MATRIX(d, at) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(at) : "memory")
#define PRODUCT(d, a, b) asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b))
// clang-format on

// A box of 32 x 8 x 2 halves, 64-byte swizzle, at byte 128 of shared memory; most of it is outside of the tensor.
__global__ void corner(const __grid_constant__ CUtensorMap map, unsigned* out) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned to = shared_address(bytes) + 128, barrier = shared_address(&arrived);
  expect(barrier, 1024);
  LOAD_3D(to, &map, 48, 36, 5, barrier);  // line of the load of a corner
  wait(barrier);
  out[0] = bytes[128];
}

// 64 x 16 halves, 128-byte swizzle: loaded, read by ldmatrix, stored elsewhere, prefetched.
__global__ void rows(const __grid_constant__ CUtensorMap map, unsigned* out) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned to = shared_address(bytes), barrier = shared_address(&arrived);
  if (threadIdx.x == 0) {
    expect(barrier, 2048);
    LOAD_2D(to, &map, 64, 16, barrier);  // line of the load of rows
    PREFETCH_2D(&map, 0, 32);            // line of the prefetch
  }
  __syncthreads();
  wait(barrier);
  unsigned d;
  const unsigned row = threadIdx.x % 8;
  MATRIX(d, to + row * 128 + ((3 ^ row) * 16));  // line of ldmatrix: columns 24 to 31
  unsigned e;
  MATRIX(e, to + row * 128 + 3 * 16);  // line of a reader that forgets the swizzle
  out[threadIdx.x] = d + e;
  __syncthreads();
  if (threadIdx.x == 0) {
    STORE_2D(&map, 0, 0, to);  // line of the store
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// A of 64 x 64 halves and B of 8 x 64, both with the 128-byte swizzle.
__global__ void product(const __grid_constant__ CUtensorMap left, const __grid_constant__ CUtensorMap right,
                        float* out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char bytes[];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned a = shared_address(bytes), b = a + 8192, barrier = shared_address(&arrived);
  if (threadIdx.x == 0) {
    expect(barrier, 8192 + 1024);
    LOAD_2D(a, &left, 0, 0, barrier);   // line of A
    LOAD_2D(b, &right, 0, 0, barrier);  // line of B
  }
  __syncthreads();
  wait(barrier);
  constexpr unsigned long long kSwizzle128 = 1ull << 62 | 64ull << 32 | 1ull << 16;
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  PRODUCT(d, kSwizzle128 | (a + 32) / 16, kSwizzle128 | (b + 32) / 16);  // line of the product: columns 16 to 31
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  out[threadIdx.x] = d[0];
#endif
}

int main() {
  void *tensor, *out;
  cudaMalloc(&tensor, 1 << 20);
  cudaMemset(tensor, 0, 1 << 20);
  cudaMalloc(&out, 1 << 12);
  const cuuint64_t small[] = {64, 40, 6}, wide[] = {256, 64}, square[] = {64, 64};
  const cuuint32_t cube[] = {32, 8, 2}, tile[] = {64, 16}, a[] = {64, 64}, b[] = {64, 8};
  corner<<<1, 1, 4096>>>(
      encode(tensor, 3, small, cube, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA),
      static_cast<unsigned*>(out));
  rows<<<2, 32, 4096>>>(encode(tensor, 2, wide, tile, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                        static_cast<unsigned*>(out));
  product<<<1, 128, 16384>>>(
      encode(tensor, 2, square, a, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      encode(tensor, 2, square, b, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      static_cast<float*>(out));
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(error));
  return error != cudaSuccess;
}
