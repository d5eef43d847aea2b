// Arrays, texture objects, surface objects.
#include <sys/mman.h>

#include "api_test.h"

namespace warpgrind::runtime {

namespace {

const cudaChannelFormatDesc kWords{32, 0, 0, 0, cudaChannelFormatKindUnsigned};

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}

cudaTextureDesc clamped() {
  cudaTextureDesc t{};
  for (auto& mode : t.addressMode) mode = cudaAddressModeClamp;
  return t;
}

unsigned texel(cudaTextureObject_t texture, unsigned x, unsigned y) {
  test::Words out(1, 999);
  unsigned* p = out;
  void* parameters[] = {&p, &texture, &x, &y};
  OK(cudaLaunchKernel(&test::read_2d, {1, 1, 1}, {1, 1, 1}, parameters, 0, nullptr));
  OK(cudaDeviceSynchronize());
  return out.read()[0];
}

}  // namespace

// Like CuPy's first copy: without -pie, an executable's heap is at a low address, and no device memory is in use yet.
TEST(Arrays, FirstCopyIsFromALowAddress) {
  auto* low = reinterpret_cast<void*>(std::uintptr_t{1} << 28);
  auto* words = static_cast<unsigned*>(
      ::mmap(low, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  ASSERT_EQ(words, low);
  for (unsigned i = 0; i < 64; ++i) words[i] = 10 * i;
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &kWords, 16, 4));
  OK(cudaMemcpy2DToArray(array, 0, 0, words, 64, 64, 4, cudaMemcpyHostToDevice));
  unsigned back[64] = {};
  OK(cudaMemcpy2DFromArray(back, 64, array, 0, 0, 64, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::memcmp(back, words, sizeof back), 0);
  OK(cudaFreeArray(array));
  ::munmap(words, 4096);
}

TEST(Arrays, ShapesAndLimits) {
  cudaArray_t array = nullptr;
  std::size_t before = 0, during = 0, total = 0;
  OK(cudaMemGetInfo(&before, &total));
  OK(cudaMallocArray(&array, &kWords, 1000, 500, 0));
  OK(cudaMemGetInfo(&during, &total));
  EXPECT_EQ(before - during, 4u * 1000 * 500);
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 77;
  OK(cudaArrayGetInfo(&format, &extent, &flags, array));
  EXPECT_EQ(extent.width, 1000u);
  EXPECT_EQ(extent.height, 500u);
  EXPECT_EQ(flags, 0u);
  OK(cudaGetChannelDesc(&format, array));
  EXPECT_EQ(format.x, 32);
  OK(cudaFreeArray(array));
  FAILS(cudaErrorInvalidResourceHandle, cudaFreeArray(array));
  FAILS(cudaErrorInvalidResourceHandle, cudaArrayGetInfo(&format, &extent, &flags, array));
  FAILS(cudaErrorInvalidResourceHandle, cudaGetChannelDesc(&format, array));
  OK(cudaMemGetInfo(&during, &total));
  EXPECT_EQ(during, before);
  OK(cudaMalloc3DArray(&array, &kWords, {8, 8, 8}, cudaArraySurfaceLoadStore));
  OK(cudaFreeArray(array));
  OK(cudaMalloc3DArray(&array, &kWords, {16, 16, 6}, cudaArrayCubemap));
  OK(cudaFreeArray(array));
  // A product that wraps to a small number must not give a small array that claims to be large.
  const std::size_t large = std::size_t{1} << 32;
  FAILS(cudaErrorInvalidValue, cudaMalloc3DArray(&array, &kWords, {large, large, 4}, 0));
  FAILS(cudaErrorInvalidValue, cudaMallocArray(&array, &kWords, large, large, 0));
  FAILS(cudaErrorInvalidValue, cudaMallocArray(&array, &kWords, std::size_t{1} << 62, 0, 0));
  FAILS(cudaErrorInvalidValue, cudaMalloc3DArray(&array, &kWords, {16, 8, 6}, cudaArrayCubemap));
  FAILS(cudaErrorInvalidValue, cudaMallocArray(&array, &kWords, 0, 4, 0));
  const cudaChannelFormatDesc three{32, 32, 32, 0, cudaChannelFormatKindUnsigned};
  FAILS(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &three, 4, 4, 0));
  const cudaChannelFormatDesc made = cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
  EXPECT_EQ(made.y, 16);
  EXPECT_EQ(made.f, cudaChannelFormatKindFloat);
}

TEST(Textures, ReadAndDescribe) {
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &kWords, 4, 2, 0));
  const unsigned values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  OK(cudaMemcpy2DToArray(array, 0, 0, values, 16, 16, 2, cudaMemcpyHostToDevice));
  const cudaResourceDesc resource = of_array(array);
  const cudaTextureDesc description = clamped();
  cudaTextureObject_t texture = 0;
  OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  EXPECT_EQ(texel(texture, 2, 1), 7u);
  cudaResourceDesc r{};
  cudaTextureDesc t{};
  cudaResourceViewDesc v{};
  OK(cudaGetTextureObjectResourceDesc(&r, texture));
  EXPECT_EQ(r.res.array.array, array);
  OK(cudaGetTextureObjectTextureDesc(&t, texture));
  EXPECT_EQ(t.addressMode[0], 1);
  FAILS(cudaErrorInvalidValue, cudaGetTextureObjectResourceViewDesc(&v, texture));  // the texture was made without one
  OK(cudaDestroyTextureObject(texture));
  FAILS(cudaErrorInvalidValue, cudaDestroyTextureObject(texture));
  FAILS(cudaErrorInvalidValue, cudaGetTextureObjectResourceDesc(&r, texture));
  FAILS(cudaErrorInvalidValue, cudaGetTextureObjectTextureDesc(&t, texture));
  v.width = 4;
  v.height = 2;
  OK(cudaCreateTextureObject(&texture, &resource, &description, &v));
  v = {};
  OK(cudaGetTextureObjectResourceViewDesc(&v, texture));
  EXPECT_EQ(v.width, 4u);
  OK(cudaDestroyTextureObject(texture));

  cudaTextureDesc wrong = description;
  wrong.filterMode = cudaFilterModeLinear;  // integers that are not normalised cannot be filtered
  FAILS(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&texture, &resource, &wrong, nullptr));
  wrong = description;
  wrong.addressMode[1] = static_cast<cudaTextureAddressMode>(9);
  FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &resource, &wrong, nullptr));
  test::Words rows(256);
  cudaResourceDesc pitched{};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D = {rows, kWords, 8, 2, 512};
  OK(cudaCreateTextureObject(&texture, &pitched, &description, nullptr));
  OK(cudaDestroyTextureObject(texture));
  pitched.res.pitch2D.height = static_cast<std::size_t>(1) << 58;  // times the pitch it wraps
  FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &pitched, &description, nullptr));
  pitched.res.pitch2D.height = 3;
  FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &pitched, &description, nullptr));
  OK(cudaFreeArray(array));
}

// An array is freed while texture objects still use it. Reading it is an error of the program, but must not read freed
// host memory.
TEST(Textures, OutliveTheirArray) {
  cudaArray_t array = nullptr;
  OK(cudaMallocArray(&array, &kWords, 4, 2, cudaArraySurfaceLoadStore));
  const cudaResourceDesc resource = of_array(array);
  const cudaTextureDesc description = clamped();
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  OK(cudaCreateSurfaceObject(&surface, &resource));
  OK(cudaFreeArray(array));
  unsigned x = 1, y = 1, value = 42;
  void* parameters[] = {&surface, &x, &y, &value};
  OK(cudaLaunchKernel(&test::write_2d, {1, 1, 1}, {1, 1, 1}, parameters, 0, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(texel(texture, 1, 1), 42u);
  OK(cudaDestroyTextureObject(texture));
  OK(cudaDestroySurfaceObject(surface));
}

TEST(Surfaces, WriteAndDescribe) {
  cudaArray_t array = nullptr, plain = nullptr;
  OK(cudaMallocArray(&array, &kWords, 4, 2, cudaArraySurfaceLoadStore));
  OK(cudaMallocArray(&plain, &kWords, 4, 2, 0));
  cudaResourceDesc resource = of_array(array);
  cudaSurfaceObject_t surface = 0;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  unsigned x = 3, y = 1, value = 17, back[8] = {};
  void* parameters[] = {&surface, &x, &y, &value};
  OK(cudaLaunchKernel(&test::write_2d, {1, 1, 1}, {1, 1, 1}, parameters, 0, nullptr));
  OK(cudaMemcpy2DFromArray(back, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back[7], 17u);
  EXPECT_EQ(back[6], 0u);
  cudaResourceDesc r{};
  OK(cudaGetSurfaceObjectResourceDesc(&r, surface));
  EXPECT_EQ(r.res.array.array, array);
  OK(cudaDestroySurfaceObject(surface));
  FAILS(cudaErrorInvalidValue, cudaDestroySurfaceObject(surface));
  FAILS(cudaErrorInvalidValue, cudaGetSurfaceObjectResourceDesc(&r, surface));
  resource = of_array(plain);
  FAILS(cudaErrorInvalidValue, cudaCreateSurfaceObject(&surface, &resource));
  OK(cudaFreeArray(array));
  OK(cudaFreeArray(plain));
}

// Kernels that read mipmaps are tested in tests/driver/mipmaps_test.cpp.
TEST(Arrays, HaveMipmaps) {
  const cudaChannelFormatDesc words = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
  cudaMipmappedArray_t mipmap = nullptr;
  cudaArray_t level = nullptr;
  cudaExtent extent{};
  OK(cudaMallocMipmappedArray(&mipmap, &words, {16, 4, 0}, 3, 0));
  OK(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
  OK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
  EXPECT_EQ(extent.width, 4u);
  EXPECT_EQ(extent.height, 1u);
  FAILS(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, mipmap, 3));
  FAILS(cudaErrorInvalidValue, cudaFreeArray(level));
  OK(cudaFreeMipmappedArray(mipmap));
  FAILS(cudaErrorInvalidResourceHandle, cudaFreeMipmappedArray(mipmap));
  FAILS(cudaErrorInvalidValue, cudaMallocMipmappedArray(nullptr, &words, {16, 4, 0}, 3, 0));
  cudaGetLastError();
}

}  // namespace warpgrind::runtime
