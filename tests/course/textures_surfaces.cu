// Texture objects on arrays and linear memory, surfaces, layers.
#include "check.h"

__global__ void sample(cudaTextureObject_t texture, float* out, int width, int height) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < width) out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
  (void)height;
}
__global__ void interpolate(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 1.0f, 0.5f);
}
__global__ void fetch(cudaTextureObject_t texture, int4* out) {
  const uchar4 v = tex1Dfetch<uchar4>(texture, threadIdx.x);
  out[threadIdx.x] = make_int4(v.x, v.y, v.z, v.w);
}
__global__ void invert(cudaSurfaceObject_t surface, int width) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x >= width) return;
  const float v = surf2Dread<float>(surface, x * sizeof(float), y);
  surf2Dwrite(-v, surface, x * sizeof(float), y);
}

int main() {
  const int width = 20, height = 6;
  float host[height][width], *out, back[height * width];
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) host[y][x] = float(100 * y + x);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, host, sizeof host[0], sizeof host[0], height, cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&out, sizeof back));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc desc = {};
  desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
  desc.filterMode = cudaFilterModePoint;
  desc.readMode = cudaReadModeElementType;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  invert<<<height, 32>>>(surface, width);
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  sample<<<height, 32>>>(texture, out, width, height);
  CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; i++) expect_equal("point", i, back[i], -(100.0 * (i / width) + i % width));
  CHECK(cudaDestroyTextureObject(texture));
  desc.filterMode = cudaFilterModeLinear;
  CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  interpolate<<<1, 10>>>(texture, out);
  CHECK(cudaMemcpy(back, out, 10 * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 10; i++) expect_near("linear", i, back[i], -(i + 0.5), 1e-6);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroySurfaceObject(surface));

  uchar4 bytes[16], *device_bytes;
  int4 values[16], *device_values;
  for (int i = 0; i < 16; i++) bytes[i] = make_uchar4(i, i + 1, i + 2, 255 - i);
  CHECK(cudaMalloc(&device_bytes, sizeof bytes));
  CHECK(cudaMalloc(&device_values, sizeof values));
  CHECK(cudaMemcpy(device_bytes, bytes, sizeof bytes, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = device_bytes;
  resource.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.linear.sizeInBytes = sizeof bytes;
  desc = {};
  CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  fetch<<<1, 16>>>(texture, device_values);
  CHECK(cudaMemcpy(values, device_values, sizeof values, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 16; i++) {
    expect_equal("x", i, values[i].x, i);
    expect_equal("w", i, values[i].w, 255 - i);
  }
  CHECK(cudaFreeArray(array));
  std::printf("textures and surfaces: right\n");
}
