// Prints what a GPU returns for each texture case (texture_cases.h): one line a sample, four words in hexadecimal.
//   nvcc -o run_textures_on_gpu run_textures_on_gpu.cu && ./run_textures_on_gpu > textures.expected
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "texture_cases.h"

using namespace texture_cases;

#define CHECK(call)                                                                   \
  do {                                                                                \
    const cudaError_t e = (call);                                                     \
    if (e != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

__device__ uint4 words(float4 v) {
  return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}
__device__ uint4 words(uint4 v) {
  return v;
}

template <class T>
__global__ void sample(cudaTextureObject_t t, Geometry geometry, int component, const float4* coordinates, uint4* out) {
  const int i = threadIdx.x;
  const float4 c = coordinates[i];
  const int layer = static_cast<int>(c.w);
  T v{};
  switch (geometry) {
    case d1:
      v = tex1D<T>(t, c.x);
      break;
    case pitched:
    case d2:
      v = tex2D<T>(t, c.x, c.y);
      break;
    case d3:
      v = tex3D<T>(t, c.x, c.y, c.z);
      break;
    case a1d:
      v = tex1DLayered<T>(t, c.x, layer);
      break;
    case a2d:
      v = tex2DLayered<T>(t, c.x, c.y, layer);
      break;
    case cube:
      v = texCubemap<T>(t, c.x, c.y, c.z);
      break;
    case acube:
      v = texCubemapLayered<T>(t, c.x, c.y, c.z, layer);
      break;
    case gather:
      switch (component) {
        case 0:
          v = tex2Dgather<T>(t, c.x, c.y, 0);
          break;
        case 1:
          v = tex2Dgather<T>(t, c.x, c.y, 1);
          break;
        case 2:
          v = tex2Dgather<T>(t, c.x, c.y, 2);
          break;
        default:
          v = tex2Dgather<T>(t, c.x, c.y, 3);
      }
      break;
    case fetch1d:
      v = tex1Dfetch<T>(t, static_cast<int>(c.x));
      break;
  }
  out[i] = words(v);
}

int main() {
  float4* coordinate_buffer = nullptr;
  uint4* results = nullptr;
  CHECK(cudaMalloc(&coordinate_buffer, kSamples * sizeof(float4)));
  CHECK(cudaMalloc(&results, kSamples * sizeof(uint4)));
  for (const Case& c : all()) {
    cudaResourceDesc resource{};
    cudaTextureDesc description{};
    const cudaChannelFormatDesc format{c.bits[0], c.bits[1], c.bits[2], c.bits[3],
                                       static_cast<cudaChannelFormatKind>(c.kind)};
    const std::vector<std::uint8_t> data = texels(c);
    cudaArray_t array = nullptr;
    void* linear = nullptr;
    const std::size_t row = static_cast<std::size_t>(c.width) * texel_bytes(c);
    if (c.geometry == fetch1d) {
      CHECK(cudaMalloc(&linear, data.size()));
      CHECK(cudaMemcpy(linear, data.data(), data.size(), cudaMemcpyHostToDevice));
      resource.resType = cudaResourceTypeLinear;
      resource.res.linear = {linear, format, data.size()};
    } else if (c.geometry == pitched) {
      std::size_t pitch = 0;
      CHECK(cudaMallocPitch(&linear, &pitch, row, c.height));
      CHECK(cudaMemcpy2D(linear, pitch, data.data(), row, row, c.height, cudaMemcpyHostToDevice));
      resource.resType = cudaResourceTypePitch2D;
      resource.res.pitch2D = {linear, format, static_cast<std::size_t>(c.width), static_cast<std::size_t>(c.height),
                              pitch};
    } else {
      unsigned flags = 0;
      if (c.geometry == a1d || c.geometry == a2d || c.geometry == acube) flags |= cudaArrayLayered;
      if (c.geometry == cube || c.geometry == acube) flags |= cudaArrayCubemap;
      if (c.geometry == gather) flags |= cudaArrayTextureGather;
      const cudaExtent extent = make_cudaExtent(c.width, c.height, c.depth);
      CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
      cudaMemcpy3DParms copy{};
      copy.srcPtr = make_cudaPitchedPtr(const_cast<std::uint8_t*>(data.data()), row, c.width, at_least_one(c.height));
      copy.dstArray = array;
      copy.extent = make_cudaExtent(c.width, at_least_one(c.height), at_least_one(c.depth));
      copy.kind = cudaMemcpyHostToDevice;
      CHECK(cudaMemcpy3D(&copy));
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array;
    }
    for (auto& a : description.addressMode) a = static_cast<cudaTextureAddressMode>(c.address);
    description.filterMode = c.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    description.readMode = c.normalized_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    description.normalizedCoords = c.normalized;
    description.sRGB = c.srgb;
    const bool floats = c.kind == f || c.normalized_float;
    for (int k = 0; k < 4; ++k) description.borderColor[k] = floats ? kBorder[k] : kIntegerBorder[k];
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    const std::vector<float> at = coordinates(c);
    CHECK(cudaMemcpy(coordinate_buffer, at.data(), kSamples * sizeof(float4), cudaMemcpyHostToDevice));
    if (floats)
      sample<float4><<<1, kSamples>>>(texture, c.geometry, c.component, coordinate_buffer, results);
    else
      sample<uint4><<<1, kSamples>>>(texture, c.geometry, c.component, coordinate_buffer, results);
    std::vector<uint4> host(kSamples);
    CHECK(cudaMemcpy(host.data(), results, kSamples * sizeof(uint4), cudaMemcpyDeviceToHost));
    std::printf("# %s\n", c.name);
    for (const uint4& v : host) std::printf("%08x %08x %08x %08x\n", v.x, v.y, v.z, v.w);
    CHECK(cudaDestroyTextureObject(texture));
    if (array) CHECK(cudaFreeArray(array));
    if (linear) CHECK(cudaFree(linear));
  }
  return 0;
}
