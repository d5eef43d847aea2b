// Accesses inside functions of headers: reports name the lines here, whichever compiler's headers they are.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void columns(const __nv_bfloat16* a, const __half* b, float* out, int* hits, int pitch) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float x = a[i * pitch];
  const float y = b[i * pitch];
  out[i] = x + y;
  atomicAdd(&hits[i], 1);
  out[i] += __ldg(&out[i ^ 32]);
}

int main() {
  constexpr int kCount = 1 << 16, kPitch = 64;
  __nv_bfloat16* a = nullptr;
  __half* b = nullptr;
  float* out = nullptr;
  int* hits = nullptr;
  cudaMalloc(&a, kCount * kPitch * sizeof *a);
  cudaMalloc(&b, kCount * kPitch * sizeof *b);
  cudaMalloc(&out, kCount * sizeof *out);
  cudaMalloc(&hits, kCount * sizeof *hits);
  columns<<<kCount / 256, 256>>>(a, b, out, hits, kPitch);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
