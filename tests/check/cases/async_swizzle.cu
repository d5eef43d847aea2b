// Swizzled tiles in shared memory: tensor copies write them, wgmma and tensor stores read them. Needs compute
// capability 9.0a. Each block is a warpgroup of 128 threads, and multiplies matrices of zeroes.
#include <cuda.h>

#include "async_ptx.h"
#include "cases.h"

constexpr int kRows = 64, kColumns = 8, kRowBytes = 128;  // A: 64 rows of 64 halves; B: 8 columns of 64 halves

// The map of a matrix of halves, 64 in a row, in device memory. `width`: bytes of a row of the box.
static CUtensorMap tensor_map(void* data, int rows, unsigned width, CUtensorMapSwizzle swizzle) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  CUtensorMap map;
  const cuuint64_t sizes[2] = {kRowBytes / 2, static_cast<cuuint64_t>(rows)}, strides[1] = {kRowBytes};
  const cuuint32_t box[2] = {width / 2, static_cast<cuuint32_t>(rows)}, steps[2] = {1, 1};
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::printf("cuTensorMapEncodeTiled: %d\n", static_cast<int>(result));
  return map;
}

// Two matrices, and the maps of both for one or two layouts.
struct Tensors {
  void *a, *b;
  CUtensorMap* maps = nullptr;
  float* out;

  Tensors(unsigned width, CUtensorMapSwizzle swizzle, unsigned next_width, CUtensorMapSwizzle next)
      : a(cases::zeros<char>(kRows * kRowBytes)),
        b(cases::zeros<char>(kColumns * kRowBytes)),
        out(cases::zeros<float>(512)) {
    const CUtensorMap all[4] = {tensor_map(a, kRows, width, swizzle), tensor_map(b, kColumns, width, swizzle),
                                tensor_map(a, kRows, next_width, next), tensor_map(b, kColumns, next_width, next)};
    cudaMalloc(&maps, sizeof all);
    cudaMemcpy(maps, all, sizeof all, cudaMemcpyHostToDevice);
  }
  Tensors(unsigned width, CUtensorMapSwizzle swizzle) : Tensors(width, swizzle, width, swizzle) {}
  ~Tensors() {
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(maps);
    cudaFree(out);
  }
};

struct Tiles {
  alignas(1024) unsigned char a[kRows * kRowBytes + 1024];
  alignas(1024) unsigned char b[kColumns * kRowBytes + 1024];
};

// The fields of a matrix descriptor behind the address, in bytes. layout: 0 none, 1 swizzle 128, 2 swizzle 64, 3
// swizzle 32 bytes.
static constexpr unsigned long long form(unsigned long long layout, unsigned long long leading,
                                         unsigned long long stride, unsigned long long base = 0) {
  return leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | layout << 62;
}
constexpr unsigned long long kNone = form(0, 128, 256), k128 = form(1, 16, 1024), k64 = form(2, 16, 512),
                             k32 = form(3, 16, 256);

static __device__ __forceinline__ unsigned long long described(const void* data, unsigned long long form) {
  return (shared_address(data) & 0x3ffffu) >> 4 | form;
}

// clang-format off
#define TENSOR_LOAD(to, map, x, y, bar)                                                                              \
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "             \
               "[%1, {%2, %3}], [%4];" ::"r"(shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(shared_address(&(bar))) \
               : "memory")
#define TENSOR_STORE(map, x, y, from)                                                                               \
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),       \
               "r"(x), "r"(y), "r"(shared_address(from)) : "memory")
#define PRODUCT_OF(d, a, b)                                                                              \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b))
// clang-format on

__device__ __forceinline__ void store(float* out, const float* d) {
  for (int k = 0; k < 4; ++k) out[threadIdx.x * 4 + k] = d[k];
}

// Boxes of `width` bytes, side by side, then one product. shift: of both tiles, from an address that is a multiple of
// 1024. depth: offset of the matrices in the tiles' rows.
__global__ void loaded_product(const CUtensorMap* maps, unsigned width, int boxes, unsigned long long a,
                               unsigned long long b, unsigned shift, unsigned depth, float* out) {
  __shared__ Tiles t;
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) MBARRIER_INIT(full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_EXPECT(full, boxes * (kRows + kColumns) * width);
#pragma unroll 1
    for (int k = 0; k < boxes; ++k) {
      const int x = k * static_cast<int>(width) / 2;
      //! C299 C301 C305 ERROR shared-layout access="tensor copy"
      //! C303 WARNING shared-layout access="tensor copy"
      TENSOR_LOAD(t.a + shift + k * kRows * width, maps, x, 0, full);
      TENSOR_LOAD(t.b + shift + k * kColumns * width, maps + 1, x, 0, full);  //! C299 C301 C303 C305 any
    }
  }
  MBARRIER_WAIT(full, 0);
  float d[4] = {};
  PRODUCT_FENCE();
  //! C299 ERROR shared-layout access=wgmma message~"reads a tile with no swizzle" message~Layout_K_SW128_Atom
  //! C301 ERROR shared-layout message~"with 32-byte swizzle" message~CU_TENSOR_MAP_SWIZZLE_64B
  //! C303 WARNING shared-layout access=wgmma message~"wrote it with no swizzle" message~tensormap_replace_swizzle_mode
  //! C305 ERROR shared-layout access=wgmma message~"base offset of 1"
  PRODUCT_OF(d, described(t.a + shift + depth, a), described(t.b + shift + depth, b));
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C299, "a map with a swizzle of 128 bytes, a matrix descriptor without swizzle") {
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  loaded_product<<<1, 128>>>(of.maps, 128, 1, kNone, kNone, 0, 0, of.out);
}
CASE(C300, "a map and matrix descriptors with a swizzle of 128 bytes") {  //! C300 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  loaded_product<<<1, 128>>>(of.maps, 128, 1, k128, k128, 0, 0, of.out);
}
CASE(C301, "a map with a swizzle of 64 bytes, a matrix descriptor with one of 32 bytes") {
  Tensors of(64, CU_TENSOR_MAP_SWIZZLE_64B);
  loaded_product<<<1, 128>>>(of.maps, 64, 1, k32, k32, 0, 0, of.out);
}
CASE(C302, "a map and matrix descriptors with a swizzle of 64 bytes") {  //! C302 clean
  Tensors of(64, CU_TENSOR_MAP_SWIZZLE_64B);
  loaded_product<<<1, 128>>>(of.maps, 64, 1, k64, k64, 0, 0, of.out);
}
CASE(C303, "a map without swizzle, a matrix descriptor with one of 128 bytes") {
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_NONE);
  loaded_product<<<1, 128>>>(of.maps, 128, 1, k128, k128, 0, 0, of.out);
}
CASE(C304, "boxes of 16 bytes without swizzle, matrix descriptors without swizzle") {  //! C304 clean
  Tensors of(16, CU_TENSOR_MAP_SWIZZLE_NONE);
  loaded_product<<<1, 128>>>(of.maps, 16, 2, form(0, kRows * 16, 128), form(0, kColumns * 16, 128), 0, 0, of.out);
}
CASE(C305, "a tile of a tensor copy that is no multiple of 1024 bytes, and a base offset for it") {
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  const unsigned long long based = form(1, 16, 1024, 1);
  loaded_product<<<1, 128>>>(of.maps, 128, 1, based, based, 128, 0, of.out);
}
CASE(C306, "a later part of the depth: the descriptor's address is 32 bytes higher") {  //! C306 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  loaded_product<<<1, 128>>>(of.maps, 128, 1, k128, k128, 0, 32, of.out);
}
CASE(C317, "a tile of a tensor copy that is no multiple of 1024 bytes, and base offset 0") {  //! C317 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  loaded_product<<<1, 128>>>(of.maps, 128, 1, k128, k128, 128, 0, of.out);
}

// A tile goes through shared memory.
__global__ void loaded_and_stored(const CUtensorMap* from, const CUtensorMap* to) {
  __shared__ Tiles t;
  __shared__ unsigned long long full;
  if (threadIdx.x != 0) return;
  MBARRIER_INIT(full, 1);
  PROXY_FENCE(".shared::cta");
  MBARRIER_EXPECT(full, kRows * 64);
  TENSOR_LOAD(t.a, from, 0, 0, full);  //! C307 WARNING shared-layout access="tensor copy"
  MBARRIER_WAIT(full, 0);
  TENSOR_STORE(to, 0, 0, t.a);  //! C307 WARNING shared-layout access="tensor store" message~"encode both tensor maps"
  BULK_COMMIT();
  BULK_WAIT(0);
}
CASE(C307, "a tensor store by another swizzle than that of the tensor load") {
  Tensors of(64, CU_TENSOR_MAP_SWIZZLE_128B, 64, CU_TENSOR_MAP_SWIZZLE_64B);
  loaded_and_stored<<<1, 32>>>(of.maps, of.maps + 2);
}
CASE(C308, "a tensor store by the swizzle of the tensor load") {  //! C308 clean
  Tensors of(64, CU_TENSOR_MAP_SWIZZLE_64B);
  loaded_and_stored<<<1, 32>>>(of.maps, of.maps + 2);
}

// The buffer is used a second time, with another layout.
template <bool kPlain>
__global__ void buffer_reused(const CUtensorMap* maps, unsigned long long second, float* out) {
  __shared__ Tiles t;
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) MBARRIER_INIT(full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_EXPECT(full, (kRows + kColumns) * 128);
    TENSOR_LOAD(t.a, maps, 0, 0, full);
    TENSOR_LOAD(t.b, maps + 1, 0, 0, full);
  }
  MBARRIER_WAIT(full, 0);
  float d[4] = {};
  PRODUCT_FENCE();
  PRODUCT_OF(d, described(t.a, k128), described(t.b, k128));
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  __syncthreads();
  if (kPlain) {
    for (int i = threadIdx.x; i < kRows * kRowBytes / 4; i += 128) reinterpret_cast<unsigned*>(t.a)[i] = 0;
    for (int i = threadIdx.x; i < kColumns * kRowBytes / 4; i += 128) reinterpret_cast<unsigned*>(t.b)[i] = 0;
    PROXY_FENCE(".shared::cta");
    __syncthreads();
  } else {
    if (threadIdx.x == 0) {
      MBARRIER_EXPECT(full, (kRows + kColumns) * 64);
      TENSOR_LOAD(t.a, maps + 2, 0, 0, full);  //! C311 ERROR shared-layout access="tensor copy"
      TENSOR_LOAD(t.b, maps + 3, 0, 0, full);  //! C311 any
    }
    MBARRIER_WAIT(full, 1);
  }
  PRODUCT_FENCE();
  //! C311 ERROR shared-layout access=wgmma message~"wrote it with 64-byte swizzle"
  PRODUCT_OF(d, described(t.a, second), described(t.b, second));
  PRODUCT_COMMIT();
  PRODUCT_WAIT(0);
  store(out, d);
}
CASE(C309, "plain stores write the buffer of a tensor copy again, in another layout") {  //! C309 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  buffer_reused<true><<<1, 128>>>(of.maps, kNone, of.out);
}
CASE(C310, "a second tensor copy to the buffer with another swizzle, and its descriptor") {  //! C310 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B, 64, CU_TENSOR_MAP_SWIZZLE_64B);
  buffer_reused<false><<<1, 128>>>(of.maps, k64, of.out);
}
CASE(C311, "a second tensor copy to the buffer with another swizzle, and the descriptor of the first") {
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B, 64, CU_TENSOR_MAP_SWIZZLE_64B);
  buffer_reused<false><<<1, 128>>>(of.maps, k128, of.out);
}

// Plain loads name no layout. This one follows the swizzle itself.
__global__ void plain_loads(const CUtensorMap* maps, float* out) {
  __shared__ Tiles t;
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) MBARRIER_INIT(full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_EXPECT(full, kRows * 128);
    TENSOR_LOAD(t.a, maps, 0, 0, full);
  }
  MBARRIER_WAIT(full, 0);
  const unsigned row = threadIdx.x / 2, piece = threadIdx.x % 2;
  const float4 data = *reinterpret_cast<const float4*>(t.a + row * 128 + (piece ^ row % 8) * 16);
  reinterpret_cast<float4*>(out)[threadIdx.x] = data;
}
CASE(C312, "plain loads of a swizzled tile") {  //! C312 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  plain_loads<<<1, 128>>>(of.maps, of.out);
}

// ---- The copies themselves

// at: offset of the box in the buffer; expected: bytes that the mbarrier waits for.
__global__ void one_load(const CUtensorMap* map, unsigned at, int x, int y, unsigned expected) {
  extern __shared__ __align__(1024) unsigned char buffer[];
  __shared__ unsigned long long full;
  if (threadIdx.x != 0) return;
  MBARRIER_INIT(full, 1);
  PROXY_FENCE(".shared::cta");
  MBARRIER_EXPECT(full, expected);
  //! C313 ERROR oob-shared-write
  TENSOR_LOAD(buffer + at, map, x, y, full);
  MBARRIER_WAIT(full, 0);
}
CASE(C313, "the box of a tensor copy ends behind the block's shared memory") {
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  one_load<<<1, 32, kRows * 128>>>(of.maps, 1024, 0, 0, kRows * 128);
}
CASE(C314, "the box of a tensor copy ends where the block's shared memory ends") {  //! C314 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  one_load<<<1, 32, kRows * 128 + 1024>>>(of.maps, 1024, 0, 0, kRows * 128);
}
CASE(C315, "a box that begins before the tensor and ends behind it, on purpose: it is filled") {  //! C315 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  one_load<<<1, 32, kRows * 128>>>(of.maps, 0, -8, 32, kRows * 128);
}
CASE(C316, "expect_tx announces the whole box, of which only a part lies in the tensor") {  //! C316 clean
  Tensors of(128, CU_TENSOR_MAP_SWIZZLE_128B);
  one_load<<<1, 32, kRows * 128>>>(of.maps, 0, 0, 60, kRows * 128);
}
