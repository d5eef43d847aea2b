// Two kernels compiled for sm_90: one that every GPU could run, and one with an instruction of sm_80 (redux).
//   newer_instruction [plain] [checked] [unchecked]
#include <cstdio>
#include <cstring>

__global__ void plain(int* out) {
  out[threadIdx.x] = threadIdx.x;
}
__global__ void reduces(int* out) {
  out[threadIdx.x] = __reduce_add_sync(0xffffffff, threadIdx.x);
}

int main(int argc, char** argv) {
  int* out = nullptr;
  cudaMallocManaged(&out, 32 * sizeof(int));
  for (int k = 1; k < argc; ++k) {
    const bool is_plain = std::strcmp(argv[k], "plain") == 0;
    out[5] = -1;
    if (is_plain)
      plain<<<1, 32>>>(out);
    else
      reduces<<<1, 32>>>(out);
    if (std::strcmp(argv[k], "unchecked") != 0) std::printf("%s: %s", argv[k], cudaGetErrorName(cudaGetLastError()));
    cudaDeviceSynchronize();
    std::printf(", out[5] = %d\n", out[5]);
  }
}
