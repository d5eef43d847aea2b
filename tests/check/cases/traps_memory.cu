// Right: addresses that look wrong and are not.
#include "cases.h"

__global__ void trap_reuse_after_free_malloc(int* data) {
  data[threadIdx.x] += 1;
}
//! C146 clean
CASE(C146, "free then malloc gives the same address, new pointer used") {
  int *before, *after;
  cudaMalloc(&before, 32 * sizeof(int));
  cudaMemset(before, 0, 32 * sizeof(int));
  trap_reuse_after_free_malloc<<<1, 32>>>(before);
  cudaFree(before);
  cudaMalloc(&after, 32 * sizeof(int));
  cudaMemset(after, 0, 32 * sizeof(int));
  trap_reuse_after_free_malloc<<<1, 32>>>(after);
  cudaDeviceSynchronize();
  cudaFree(after);
}

__global__ void trap_texture_clamp(cudaTextureObject_t clamped, cudaTextureObject_t border, float* out) {
  const float x = static_cast<float>(threadIdx.x) - 8, y = x + 3;
  out[threadIdx.x] = tex2D<float>(clamped, x, y) + tex2D<float>(border, x, y);
}
//! C158 clean
CASE(C158, "coordinates outside, clamp/border mode") {
  static float host[16 * 16];
  float* out = cases::zeros<float>(32);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, 16, 16);
  cudaMemcpy2DToArray(array, 0, 0, host, 64, 64, 16, cudaMemcpyHostToDevice);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t textures[2];
  for (int i = 0; i < 2; ++i) {
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = i ? cudaAddressModeBorder : cudaAddressModeClamp;
    cudaCreateTextureObject(&textures[i], &resource, &how, nullptr);
  }
  trap_texture_clamp<<<1, 32>>>(textures[0], textures[1], out);
  cudaDeviceSynchronize();
  for (const cudaTextureObject_t texture : textures) cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(out);
}

__global__ void trap_pointer_one_past_end(const int* begin, const int* end, int* out) {
  int sum = 0;
  for (const int* p = begin + threadIdx.x; p != end && p < end; p += 32) sum += *p;
  out[threadIdx.x] = sum;
}
//! C159 clean
CASE(C159, "end pointer computed, compared, never read") {
  int *in = cases::zeros<int>(96), *out = cases::zeros<int>(32);
  trap_pointer_one_past_end<<<1, 32>>>(in, in + 96, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_negative_offset_inside(const int* middle, int* out) {
  out[threadIdx.x] = middle[static_cast<int>(threadIdx.x) - 50];
}
//! C160 clean
CASE(C160, "kernel gets p+100 and reads p[-50]") {
  int *in = cases::zeros<int>(200), *out = cases::zeros<int>(32);
  trap_negative_offset_inside<<<1, 32>>>(in + 100, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

struct Pointers {
  const int* in;
  int* out;
};
__global__ void trap_struct_of_pointers(const Pointers* pointers) {
  pointers->out[threadIdx.x] = pointers->in[threadIdx.x];
}
//! C161 clean
CASE(C161, "pointer taken from a struct in memory points into another allocation") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  Pointers host{in, out}, *pointers = cases::zeros<Pointers>(1);
  cudaMemcpy(pointers, &host, sizeof host, cudaMemcpyHostToDevice);
  trap_struct_of_pointers<<<1, 32>>>(pointers);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
  cudaFree(pointers);
}

// Piece a lies 64 elements before piece b, in one allocation.
__global__ void trap_pool_suballocator(const int* b, int* out) {
  out[threadIdx.x] = b[static_cast<int>(threadIdx.x) - 64];
}
//! C162 clean
CASE(C162, "one cudaMalloc cut into pieces by the program; piece A addressed from B by design") {
  int *pool = cases::zeros<int>(192), *a = pool, *b = a + 64, *out = b + 64;
  trap_pool_suballocator<<<1, 64>>>(b, out);
  cudaDeviceSynchronize();
  cudaFree(pool);
}

__global__ void trap_peer_access(const int* far, int* out) {
  out[threadIdx.x] = far[threadIdx.x];
}
//! C163 clean
//! C163 options --devices 2
CASE(C163, "device 0 kernel reads device 1 memory, peer access enabled") {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) return;
  cudaSetDevice(1);
  int* far = cases::zeros<int>(32);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  cudaDeviceEnablePeerAccess(1, 0);
  int* out = cases::zeros<int>(32);
  trap_peer_access<<<1, 32>>>(far, out);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(far);
}
