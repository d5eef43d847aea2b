// Texture and surface references: variables in PTX that the program binds to memory.
#include <cstring>
#include <vector>

#include "code.h"

namespace warpgrind::driver {

namespace {

constexpr CUDA_ARRAY_DESCRIPTOR kImage{8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1};

// line(p): p[i] = texel i of `flat`; image(p): p[i] = texel (i, 1) of `picture`, as floats; write(): texel (i, 0) of
// `drawn` = i + 1; all for 8 threads
constexpr const char* kReferences = R"(.version 7.0
.target sm_52
.address_size 64
.visible .global .texref flat;
.visible .global .texref picture;
.visible .global .surfref drawn;
.visible .global .align 4 .u32 word;
.visible .entry line(.param .u64 p)
{
  .reg .u64 %rd<4>;
  .reg .u32 %r<6>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [flat, {%r1}];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
}
.visible .entry image(.param .u64 p)
{
  .reg .u64 %rd<4>;
  .reg .u32 %r<3>;
  .reg .f32 %f<7>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f5, %r1;
  add.f32 %f5, %f5, 0f3F000000;
  mov.f32 %f6, 0f3FC00000;
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%f5, %f6}];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f1;
  ret;
}
.visible .entry write()
{
  .reg .u32 %r<4>;
  .reg .u16 %h<2>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  add.u32 %r3, %r1, 1;
  cvt.u16.u32 %h1, %r3;
  sust.b.2d.b8.trap [drawn, {%r1, %r2}], {%h1};
  ret;
}
)";

class References : public test::WithContext {
 protected:
  References() { OK(cuModuleLoadData(&module, kReferences)); }
  ~References() override { OK(cuModuleUnload(module)); }
  CUtexref texture(const char* name) const {
    CUtexref out = nullptr;
    OK(cuModuleGetTexRef(&out, module, name));
    return out;
  }
  // Runs the kernel with 8 threads and returns the word that each writes.
  template <class Word>
  std::vector<Word> run(const char* kernel) const {
    const test::Words words(8);
    CUfunction function = nullptr;
    CUdeviceptr p = words.data();
    void* arguments[] = {&p};
    OK(cuModuleGetFunction(&function, module, kernel));
    OK(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments, nullptr));
    const std::vector<unsigned> bits = words.read();
    std::vector<Word> out(8);
    std::memcpy(out.data(), bits.data(), 32);
    return out;
  }
  // Texel (x, y) is 10 y + x.
  CUarray image(unsigned flags = 0) const {
    CUarray out = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR description{8, 4, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, flags};
    OK(cuArray3DCreate(&out, &description));
    unsigned char texels[4][8];
    for (int y = 0; y < 4; y++)
      for (int x = 0; x < 8; x++) texels[y][x] = static_cast<unsigned char>(10 * y + x);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.srcPitch = 8;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = out;
    copy.WidthInBytes = 8;
    copy.Height = 4;
    OK(cuMemcpy2D(&copy));
    return out;
  }
  CUmodule module = nullptr;
};

}  // namespace

TEST_F(References, AreFoundByName) {
  CUtexref texture = nullptr, again = nullptr;
  CUsurfref surface = nullptr;
  OK(cuModuleGetTexRef(&texture, module, "flat"));
  OK(cuModuleGetTexRef(&again, module, "flat"));
  EXPECT_EQ(texture, again);
  OK(cuModuleGetSurfRef(&surface, module, "drawn"));
  FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&texture, module, "drawn"));
  FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&texture, module, "word"));
  FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetSurfRef(&surface, module, "flat"));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleGetTexRef(&texture, module, nullptr));
}

TEST_F(References, MeanLinearMemory) {
  const CUtexref flat = texture("flat");
  std::vector<unsigned> values(264);
  for (unsigned i = 0; i < 264; i++) values[i] = 100 + i;
  CUdeviceptr memory = 0, seen = 0;
  size_t offset = 1;
  CUarray_format format{};
  int components = 0;
  OK(cuMemAlloc(&memory, 4 * values.size()));
  OK(cuMemcpyHtoD(memory, values.data(), 4 * values.size()));
  OK(cuTexRefSetFormat(flat, CU_AD_FORMAT_UNSIGNED_INT32, 1));
  OK(cuTexRefSetFlags(flat, CU_TRSF_READ_AS_INTEGER));
  OK(cuTexRefSetAddress(&offset, flat, memory, 32));
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(run<unsigned>("line"), (std::vector<unsigned>{100, 101, 102, 103, 104, 105, 106, 107}));
  // The texture begins at the last aligned address before it. The offset is the difference.
  OK(cuTexRefSetAddress(&offset, flat, memory + 512 + 16, 16));
  EXPECT_EQ(offset, 16u);
  EXPECT_EQ(run<unsigned>("line")[4], 100u + 128 + 4);
  OK(cuTexRefGetAddress(&seen, flat));
  EXPECT_EQ(seen, memory + 512);
  OK(cuTexRefGetFormat(&format, &components, flat));
  EXPECT_EQ(format, CU_AD_FORMAT_UNSIGNED_INT32);
  EXPECT_EQ(components, 1);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress(nullptr, flat, memory + 16, 16));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress(&offset, flat, memory, 1 << 20));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetAddress(&seen, flat));  // the failed call left nothing
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetFormat(flat, CU_AD_FORMAT_FLOAT, 3));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetFormat(nullptr, nullptr, flat));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetFlags(flat, 0x1000));
  OK(cuMemFree(memory));
}

TEST_F(References, MeanArrays) {
  const CUtexref picture = texture("picture");
  const CUarray array = image();
  CUarray seen = nullptr;
  OK(cuTexRefSetArray(picture, array, CU_TRSA_OVERRIDE_FORMAT));
  std::vector<float> texels = run<float>("image");
  for (unsigned x = 0; x < 8; x++) EXPECT_FLOAT_EQ(texels[x], (10.0f + x) / 255) << x;
  OK(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
  for (int d = 0; d < 2; d++) OK(cuTexRefSetAddressMode(picture, d, CU_TR_ADDRESS_MODE_CLAMP));
  EXPECT_NEAR(run<float>("image")[3], 13.0f / 255, 1e-5);
  OK(cuTexRefGetArray(&seen, picture));
  EXPECT_EQ(seen, array);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetArray(picture, array, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetArray(&seen, texture("flat")));
  OK(cuArrayDestroy(array));
}

TEST_F(References, MeanRows) {
  const CUtexref picture = texture("picture");
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  OK(cuMemAllocPitch(&memory, &pitch, 8, 4, 4));
  OK(cuMemsetD8(memory, 51, 4 * pitch));
  OK(cuTexRefSetAddress2D(picture, &kImage, memory, pitch));
  EXPECT_FLOAT_EQ(run<float>("image")[0], 0.2f);
#undef cuTexRefSetAddress2D
  OK(cuTexRefSetAddress2D_v2(picture, &kImage, memory, pitch));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress2D_v2(picture, nullptr, memory, pitch));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddress2D_v3(picture, &kImage, memory, 3));
  OK(cuMemFree(memory));
}

TEST_F(References, KeepHowTheyAreRead) {
  const CUtexref r = texture("picture");
  CUaddress_mode mode{};
  CUfilter_mode filter{};
  float bias = 0, least = 0, most = 0, colour[4] = {1, 2, 3, 4}, seen[4] = {};
  int anisotropy = 0;
  unsigned flags = 0;
  OK(cuTexRefSetAddressMode(r, 1, CU_TR_ADDRESS_MODE_MIRROR));
  OK(cuTexRefGetAddressMode(&mode, r, 1));
  EXPECT_EQ(mode, CU_TR_ADDRESS_MODE_MIRROR);
  OK(cuTexRefSetFilterMode(r, CU_TR_FILTER_MODE_LINEAR));
  OK(cuTexRefGetFilterMode(&filter, r));
  EXPECT_EQ(filter, CU_TR_FILTER_MODE_LINEAR);
  filter = CU_TR_FILTER_MODE_POINT;
  OK(cuTexRefSetMipmapFilterMode(r, CU_TR_FILTER_MODE_LINEAR));
  OK(cuTexRefGetMipmapFilterMode(&filter, r));
  EXPECT_EQ(filter, CU_TR_FILTER_MODE_LINEAR);
  OK(cuTexRefSetMipmapLevelBias(r, 0.5f));
  OK(cuTexRefGetMipmapLevelBias(&bias, r));
  EXPECT_EQ(bias, 0.5f);
  OK(cuTexRefSetMipmapLevelClamp(r, 1, 3));
  OK(cuTexRefGetMipmapLevelClamp(&least, &most, r));
  EXPECT_EQ(least, 1);
  EXPECT_EQ(most, 3);
  OK(cuTexRefSetMaxAnisotropy(r, 4));
  OK(cuTexRefGetMaxAnisotropy(&anisotropy, r));
  EXPECT_EQ(anisotropy, 4);
  OK(cuTexRefSetBorderColor(r, colour));
  OK(cuTexRefGetBorderColor(seen, r));
  EXPECT_EQ(seen[2], 3);
  OK(cuTexRefSetFlags(r, CU_TRSF_NORMALIZED_COORDINATES));
  OK(cuTexRefGetFlags(&flags, r));
  EXPECT_EQ(flags, unsigned{CU_TRSF_NORMALIZED_COORDINATES});
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddressMode(r, 3, CU_TR_ADDRESS_MODE_WRAP));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetAddressMode(&mode, r, -1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetFilterMode(r, static_cast<CUfilter_mode>(7)));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetMipmapFilterMode(r, static_cast<CUfilter_mode>(7)));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetFilterMode(nullptr, r));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetMipmapFilterMode(nullptr, r));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetMipmapLevelBias(nullptr, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetMipmapLevelBias(nullptr, r));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetMipmapLevelClamp(nullptr, 0, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetMipmapLevelClamp(nullptr, &most, r));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetMaxAnisotropy(nullptr, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetMaxAnisotropy(nullptr, r));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetBorderColor(r, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetBorderColor(nullptr, r));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetFlags(nullptr, r));
}

TEST_F(References, AreMadeAlone) {
  CUtexref made = nullptr;
  CUfunction function = nullptr;
  CUmipmappedArray mipmap = nullptr, seen = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR description{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  OK(cuMipmappedArrayCreate(&mipmap, &description, 2));
  OK(cuTexRefCreate(&made));
  OK(cuTexRefSetMipmappedArray(made, mipmap, CU_TRSA_OVERRIDE_FORMAT));
  OK(cuTexRefGetMipmappedArray(&seen, made));
  EXPECT_EQ(seen, mipmap);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefSetMipmappedArray(made, mipmap, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefGetMipmappedArray(&seen, texture("flat")));
  OK(cuModuleGetFunction(&function, module, "write"));
  OK(cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, made));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSetTexRef(function, 3, made));
  OK(cuTexRefDestroy(made));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefDestroy(made));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexRefCreate(nullptr));
  OK(cuMipmappedArrayDestroy(mipmap));
}

TEST_F(References, MeanSurfaces) {
  const CUarray array = image(CUDA_ARRAY3D_SURFACE_LDST), plain = image();
  CUarray seen = nullptr;
  CUsurfref drawn = nullptr;
  OK(cuModuleGetSurfRef(&drawn, module, "drawn"));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuSurfRefGetArray(&seen, drawn));
  OK(cuSurfRefSetArray(drawn, array, 0));
  OK(cuSurfRefGetArray(&seen, drawn));
  EXPECT_EQ(seen, array);
  run<unsigned>("write");
  unsigned char row[8];
  OK(cuMemcpyAtoH(row, array, 0, 8));
  for (int x = 0; x < 8; x++) EXPECT_EQ(row[x], x + 1);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuSurfRefSetArray(drawn, plain, 0));
  OK(cuArrayDestroy(array));
  OK(cuArrayDestroy(plain));
}

}  // namespace warpgrind::driver
