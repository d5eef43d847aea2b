// A race: each thread reads the element of the opposite thread of the block without a barrier.
__global__ void reversed(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[255 - threadIdx.x];
}

int main() {
  int* out = nullptr;
  cudaMalloc(&out, 256 * sizeof(int));
  reversed<<<1, 256>>>(out);
  cudaDeviceSynchronize();
  return cudaFree(out) == cudaSuccess ? 0 : 2;
}
