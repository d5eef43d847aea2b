// Arrays, texture objects and surface objects.
#include <cstring>

#include "code.h"

namespace warpgrind::driver {

namespace {

using Arrays = test::WithContext;
constexpr CUDA_ARRAY_DESCRIPTOR kImage{8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4};

CUDA_RESOURCE_DESC resource_of(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}

// read(tex, p): p[i] = red of texel (i, 1), for 8 threads; write(surf): word (i, 0) = 100 + i
constexpr const char* kImageCode = R"(.version 8.0
.target sm_52
.address_size 64
.visible .entry read(.param .u64 texture, .param .u64 p)
{
  .reg .u64 %rd<5>;
  .reg .u32 %r<3>;
  .reg .f32 %f<5>;
  ld.param.u64 %rd1, [texture];
  ld.param.u64 %rd2, [p];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 1;
  tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f1;
  ret;
}
.visible .entry write(.param .u64 surface)
{
  .reg .u64 %rd<2>;
  .reg .u32 %r<5>;
  ld.param.u64 %rd1, [surface];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, 0;
  add.u32 %r4, %r1, 100;
  sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r4};
  ret;
}
)";

void run(const char* kernel, void** arguments) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  OK(cuModuleLoadData(&module, kImageCode));
  OK(cuModuleGetFunction(&function, module, kernel));
  OK(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments, nullptr));
  OK(cuCtxSynchronize());
  OK(cuModuleUnload(module));
}

}  // namespace

TEST_F(Arrays, AreDescribed) {
  CUarray image = nullptr, box = nullptr;
  CUDA_ARRAY_DESCRIPTOR flat{};
  CUDA_ARRAY3D_DESCRIPTOR deep{}, layers{16, 8, 5, CU_AD_FORMAT_HALF, 2, CUDA_ARRAY3D_LAYERED};
  OK(cuArrayCreate(&image, &kImage));
  OK(cuArrayGetDescriptor(&flat, image));
  EXPECT_EQ(flat.Width, 8u);
  EXPECT_EQ(flat.Height, 4u);
  EXPECT_EQ(flat.Format, CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT_EQ(flat.NumChannels, 4u);
  OK(cuArray3DCreate(&box, &layers));
  OK(cuArray3DGetDescriptor(&deep, box));
  EXPECT_EQ(deep.Depth, 5u);
  EXPECT_EQ(deep.Format, CU_AD_FORMAT_HALF);
  EXPECT_EQ(deep.NumChannels, 2u);
  EXPECT_EQ(deep.Flags, unsigned{CUDA_ARRAY3D_LAYERED});
  FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayGetDescriptor(nullptr, image));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuArrayGetDescriptor(&flat, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor(&deep, reinterpret_cast<CUarray>(&deep)));
  OK(cuArrayDestroy(image));
  OK(cuArrayDestroy(box));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(image));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(nullptr));
}

TEST_F(Arrays, HaveLimits) {
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR wrong = kImage;
  CUDA_ARRAY3D_DESCRIPTOR cube{8, 4, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP};
  wrong.NumChannels = 3;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &wrong));
  wrong.NumChannels = 1;
  wrong.Width = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &wrong));
  wrong.Width = size_t{1} << 40;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &wrong));
  wrong = kImage;
  wrong.Format = CU_AD_FORMAT_NV12;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuArrayCreate(&array, &wrong));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate(&array, &cube));
  cube.Height = 8;
  OK(cuArray3DCreate(&array, &cube));
  OK(cuArrayDestroy(array));
}

TEST_F(Arrays, AreSeenThroughTextures) {
  CUarray image = nullptr;
  CUtexObject object = 0;
  OK(cuArrayCreate(&image, &kImage));
  CUDA_RESOURCE_DESC resource = resource_of(image), made_of{};
  CUDA_TEXTURE_DESC texture{}, read{};
  CUDA_RESOURCE_VIEW_DESC view{};
  texture.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  texture.flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES;
  OK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  OK(cuTexObjectGetResourceDesc(&made_of, object));
  EXPECT_EQ(made_of.resType, CU_RESOURCE_TYPE_ARRAY);
  EXPECT_EQ(made_of.res.array.hArray, image);
  OK(cuTexObjectGetTextureDesc(&read, object));
  EXPECT_EQ(read.addressMode[1], CU_TR_ADDRESS_MODE_CLAMP);
  EXPECT_EQ(read.flags, texture.flags);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceViewDesc(&view, object));
  OK(cuTexObjectDestroy(object));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc(&made_of, object));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc(&read, object));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(object));
  view.format = CU_RES_VIEW_FORMAT_UINT_4X8;
  view.width = 8;
  view.height = 4;
  OK(cuTexObjectCreate(&object, &resource, &texture, &view));
  CUDA_RESOURCE_VIEW_DESC seen{};
  OK(cuTexObjectGetResourceViewDesc(&seen, object));
  EXPECT_EQ(seen.width, 8u);
  OK(cuTexObjectDestroy(object));
  texture.filterMode = CU_TR_FILTER_MODE_LINEAR;  // integers that stay integers cannot be filtered
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, nullptr));
  texture.flags = 0;
  OK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  OK(cuTexObjectDestroy(object));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, nullptr, nullptr));
  OK(cuArrayDestroy(image));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, nullptr));
}

// Bytes are read as fractions of 255, unless the texture reads them as integers.
TEST_F(Arrays, AreReadByKernels) {
  CUarray image = nullptr;
  CUtexObject object = 0;
  CUdeviceptr out = 0;
  unsigned char bytes[4 * 8 * 4];
  for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = static_cast<unsigned char>(i);
  float seen[8] = {};
  OK(cuArrayCreate(&image, &kImage));
  CUDA_MEMCPY2D up{};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = bytes;
  up.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  up.dstArray = image;
  up.WidthInBytes = 4 * 8;
  up.Height = 4;
  OK(cuMemcpy2D(&up));
  OK(cuMemAlloc(&out, sizeof seen));
  const CUDA_RESOURCE_DESC resource = resource_of(image);
  const CUDA_TEXTURE_DESC texture{};
  OK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  void* arguments[] = {&object, &out};
  run("read", arguments);
  OK(cuMemcpyDtoH(seen, out, sizeof seen));
  for (int i = 0; i < 8; i++) EXPECT_FLOAT_EQ(seen[i], static_cast<float>(bytes[32 + 4 * i]) / 255.f);
  OK(cuTexObjectDestroy(object));
  OK(cuMemFree(out));
  OK(cuArrayDestroy(image));
}

TEST_F(Arrays, AreWrittenByKernels) {
  CUarray image = nullptr;
  CUsurfObject object = 0;
  const CUDA_ARRAY3D_DESCRIPTOR words{8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  unsigned seen[8] = {};
  OK(cuArray3DCreate(&image, &words));
  const CUDA_RESOURCE_DESC resource = resource_of(image);
  OK(cuSurfObjectCreate(&object, &resource));
  void* arguments[] = {&object};
  run("write", arguments);
  OK(cuMemcpyAtoH(seen, image, 0, sizeof seen));
  for (unsigned i = 0; i < 8; i++) EXPECT_EQ(seen[i], 100 + i);
  OK(cuSurfObjectDestroy(object));
  CUDA_TEXTURE_DESC linear{};  // for 32-bit integers an H200 takes it
  linear.filterMode = CU_TR_FILTER_MODE_LINEAR;
  OK(cuTexObjectCreate(&object, &resource, &linear, nullptr));
  OK(cuTexObjectDestroy(object));
  OK(cuArrayDestroy(image));
}

TEST_F(Arrays, MayBeMemory) {
  CUdeviceptr memory = 0;
  CUtexObject object = 0;
  OK(cuMemAlloc(&memory, 1024));
  CUDA_RESOURCE_DESC resource{}, made_of{};
  const CUDA_TEXTURE_DESC texture{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {memory, CU_AD_FORMAT_SIGNED_INT32, 2, 1024};
  OK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  OK(cuTexObjectGetResourceDesc(&made_of, object));
  EXPECT_EQ(made_of.res.linear.devPtr, memory);
  EXPECT_EQ(made_of.res.linear.format, CU_AD_FORMAT_SIGNED_INT32);
  EXPECT_EQ(made_of.res.linear.numChannels, 2u);
  EXPECT_EQ(made_of.res.linear.sizeInBytes, 1024u);
  OK(cuTexObjectDestroy(object));
  resource.res.linear.sizeInBytes = 2048;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, nullptr));
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {memory, CU_AD_FORMAT_FLOAT, 1, 64, 4, 256};
  OK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  OK(cuTexObjectGetResourceDesc(&made_of, object));
  EXPECT_EQ(made_of.res.pitch2D.pitchInBytes, 256u);
  EXPECT_EQ(made_of.res.pitch2D.format, CU_AD_FORMAT_FLOAT);
  OK(cuTexObjectDestroy(object));
  resource.res.pitch2D.height = 5;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, nullptr));
  OK(cuMemFree(memory));
}

TEST_F(Arrays, AreWrittenThroughSurfaces) {
  CUarray plain = nullptr, writable = nullptr;
  CUsurfObject object = 0;
  const CUDA_ARRAY3D_DESCRIPTOR image{8, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  OK(cuArrayCreate(&plain, &kImage));
  OK(cuArray3DCreate(&writable, &image));
  CUDA_RESOURCE_DESC resource = resource_of(plain), made_of{};
  FAILS(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&object, &resource));
  resource = resource_of(writable);
  OK(cuSurfObjectCreate(&object, &resource));
  OK(cuSurfObjectGetResourceDesc(&made_of, object));
  EXPECT_EQ(made_of.res.array.hArray, writable);
  OK(cuSurfObjectDestroy(object));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(object));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuSurfObjectGetResourceDesc(&made_of, object));
  OK(cuArrayDestroy(plain));
  OK(cuArrayDestroy(writable));
}

}  // namespace warpgrind::driver
