// Transpose by tensor copies (compute capability 9.0). One instruction brings a box of 32 x 32 floats to shared memory.
// The swizzle of its map lets a warp read a column of the box in 4 passes through the banks; without it, 32 are needed.
#include <cuda.h>

#include <cstdio>

constexpr int kTile = 32, kRows = 8, kWidth = 1000, kHeight = 512;

__global__ void transpose(const __grid_constant__ CUtensorMap map, float* out) {
  __shared__ alignas(1024) float tile[kTile][kTile];
  __shared__ alignas(8) unsigned long long arrived;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  // clang-format off
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "n"(sizeof tile) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n"
               "@!done bra again; }" ::"r"(barrier) : "memory");
  // clang-format on
#pragma unroll 1
  for (int column = threadIdx.y; column < kTile; column += kRows) {
    // The 128-byte swizzle: piece p (16 bytes) of row r lies at place p ^ r % 8.
    const int row = threadIdx.x, place = (column / 4) ^ (row % 8);
    const float value = tile[row][place * 4 + column % 4];
    if (x + column < kWidth && y + row < kHeight) out[(x + column) * kHeight + y + row] = value;
  }
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, sizeof(float) * kWidth * kHeight);
  cudaMalloc(&out, sizeof(float) * kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) in[i] = static_cast<float>(i);

  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  CUtensorMap map;
  const cuuint64_t sizes[] = {kWidth, kHeight}, strides[] = {sizeof(float) * kWidth};
  const cuuint32_t box[] = {kTile, kTile}, steps[] = {1, 1};
  if (reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
          &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
          CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return 1;

  transpose<<<dim3((kWidth + kTile - 1) / kTile, (kHeight + kTile - 1) / kTile), dim3(kTile, kRows)>>>(map, out);
  float value = 0;
  cudaMemcpy(&value, out + 1, sizeof value, cudaMemcpyDeviceToHost);
  std::printf("row 0, column 1: %g (expected %d)\n", static_cast<double>(value), kWidth);
  return cudaGetLastError() != cudaSuccess || value != kWidth;
}
