// Mipmapped arrays: levels, and textures over them.
#include <cstring>
#include <vector>

#include "code.h"

namespace warpgrind::driver {

namespace {

// sample(t, p, x, y, level): p[0] = red at the level; step(t, p, x, y, dx): at that of the steps (dx, 0) and (0, 0);
// plain(t, p, x, y); texel(t, p, level): texel (0, 0); count(t, p): levels, and the width of level 1
constexpr const char* kMipmapCode = R"(.version 8.0
.target sm_52
.address_size 64
.visible .entry sample(.param .u64 t, .param .u64 p, .param .f32 x, .param .f32 y, .param .f32 level)
{
  .reg .u64 %rd<3>;
  .reg .f32 %f<8>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [p];
  ld.param.f32 %f5, [x];
  ld.param.f32 %f6, [y];
  ld.param.f32 %f7, [level];
  tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}], %f7;
  st.global.f32 [%rd2], %f1;
  ret;
}
.visible .entry step(.param .u64 t, .param .u64 p, .param .f32 x, .param .f32 y, .param .f32 dx)
{
  .reg .u64 %rd<3>;
  .reg .f32 %f<9>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [p];
  ld.param.f32 %f5, [x];
  ld.param.f32 %f6, [y];
  ld.param.f32 %f7, [dx];
  mov.f32 %f8, 0f00000000;
  tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}], {%f7, %f8}, {%f8, %f8};
  st.global.f32 [%rd2], %f1;
  ret;
}
.visible .entry plain(.param .u64 t, .param .u64 p, .param .f32 x, .param .f32 y, .param .f32 none)
{
  .reg .u64 %rd<3>;
  .reg .f32 %f<7>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [p];
  ld.param.f32 %f5, [x];
  ld.param.f32 %f6, [y];
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
  st.global.f32 [%rd2], %f1;
  ret;
}
.visible .entry texel(.param .u64 t, .param .u64 p, .param .u32 level)
{
  .reg .u64 %rd<3>;
  .reg .f32 %f<5>;
  .reg .u32 %r<3>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [p];
  ld.param.u32 %r1, [level];
  mov.u32 %r2, 0;
  tex.level.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2, %r2}], %r1;
  st.global.f32 [%rd2], %f1;
  ret;
}
.visible .entry count(.param .u64 t, .param .u64 p)
{
  .reg .u64 %rd<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [p];
  txq.num_mipmap_levels.b32 %r1, [%rd1];
  mov.u32 %r2, 1;
  txq.level.width.b32 %r3, [%rd1], %r2;
  st.global.u32 [%rd2], %r1;
  st.global.u32 [%rd2+4], %r3;
  ret;
}
)";

// 8 x 4 floats in four levels, 8x4, 4x2, 2x1, 1x1; all texels of level k are 10^k.
class Mipmaps : public test::WithContext {
 protected:
  Mipmaps() {
    OK(cuModuleLoadData(&module, kMipmapCode));
    const CUDA_ARRAY3D_DESCRIPTOR description{8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    OK(cuMipmappedArrayCreate(&mipmap, &description, 9));
    float value = 1;
    for (unsigned k = 0; k < 4; k++, value *= 10) fill(k, value);
  }
  ~Mipmaps() override {
    OK(cuMipmappedArrayDestroy(mipmap));
    OK(cuModuleUnload(module));
  }
  void fill(unsigned k, float value) const {
    CUarray level = nullptr;
    CUDA_ARRAY_DESCRIPTOR size{};
    OK(cuMipmappedArrayGetLevel(&level, mipmap, k));
    OK(cuArrayGetDescriptor(&size, level));
    const std::vector<float> texels(size.Width * size.Height, value);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels.data();
    copy.srcPitch = copy.WidthInBytes = 4 * size.Width;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = level;
    copy.Height = size.Height;
    OK(cuMemcpy2D(&copy));
  }
  CUDA_RESOURCE_DESC resource() const {
    CUDA_RESOURCE_DESC out{};
    out.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    out.res.mipmap.hMipmappedArray = mipmap;
    return out;
  }
  static CUDA_TEXTURE_DESC reading(CUfilter_mode levels = CU_TR_FILTER_MODE_POINT) {
    CUDA_TEXTURE_DESC out{};
    for (CUaddress_mode& mode : out.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
    out.filterMode = CU_TR_FILTER_MODE_LINEAR;
    out.flags = CU_TRSF_NORMALIZED_COORDINATES;
    out.mipmapFilterMode = levels;
    out.maxMipmapLevelClamp = 100;
    return out;
  }
  CUtexObject texture(const CUDA_TEXTURE_DESC& read, const CUDA_RESOURCE_VIEW_DESC* view = nullptr) const {
    CUtexObject out = 0;
    const CUDA_RESOURCE_DESC made_of = resource();
    OK(cuTexObjectCreate(&out, &made_of, &read, view));
    return out;
  }
  std::vector<unsigned> run(const char* kernel, CUtexObject texture, const void* last) const {
    const test::Words words(2);
    CUfunction function = nullptr;
    CUdeviceptr p = words.data();
    float middle = 0.5f;
    void* many[] = {&texture, &p, &middle, &middle, const_cast<void*>(last)};
    void* few[] = {&texture, &p, const_cast<void*>(last)};
    const bool is_few = !std::strcmp(kernel, "texel") || !std::strcmp(kernel, "count");
    OK(cuModuleGetFunction(&function, module, kernel));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, is_few ? few : many, nullptr));
    return words.read();
  }
  float read(const char* kernel, CUtexObject texture, float last) const {
    const std::vector<unsigned> words = run(kernel, texture, &last);
    float out = 0;
    std::memcpy(&out, words.data(), 4);
    return out;
  }
  CUmodule module = nullptr;
  CUmipmappedArray mipmap = nullptr;
};

}  // namespace

TEST_F(Mipmaps, HaveLevels) {
  const size_t sizes[][2] = {{8, 4}, {4, 2}, {2, 1}, {1, 1}};
  CUarray level = nullptr;
  CUDA_ARRAY_DESCRIPTOR seen{};
  for (unsigned k = 0; k < 4; k++) {
    OK(cuMipmappedArrayGetLevel(&level, mipmap, k));
    OK(cuArrayGetDescriptor(&seen, level));
    EXPECT_EQ(seen.Width, sizes[k][0]);
    EXPECT_EQ(seen.Height, sizes[k][1]);
  }
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, mipmap, 4));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuArrayDestroy(level));  // the level is destroyed with the others
  CUmipmappedArray none = nullptr;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayCreate(&none, nullptr, 1));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuMipmappedArrayDestroy(nullptr));
}

TEST_F(Mipmaps, GiveTheNearestLevel) {
  const CUtexObject t = texture(reading());
  EXPECT_EQ(read("sample", t, 0), 1);
  EXPECT_EQ(read("sample", t, 0.4f), 1);
  EXPECT_EQ(read("sample", t, 0.6f), 10);
  EXPECT_EQ(read("sample", t, 2), 100);
  EXPECT_EQ(read("sample", t, 17), 1000);
  EXPECT_EQ(read("sample", t, -3), 1);
  EXPECT_EQ(read("plain", t, 0), 1);
  OK(cuTexObjectDestroy(t));
}

TEST_F(Mipmaps, BlendTwoLevels) {
  const CUtexObject t = texture(reading(CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ(read("sample", t, 0.5f), 5.5f);
  EXPECT_EQ(read("sample", t, 1.25f), 0.75f * 10 + 0.25f * 100);
  EXPECT_EQ(read("sample", t, 3), 1000);
  OK(cuTexObjectDestroy(t));
}

TEST_F(Mipmaps, HaveABiasAndBounds) {
  CUDA_TEXTURE_DESC biased = reading();
  biased.mipmapLevelBias = 1;
  biased.minMipmapLevelClamp = 1.5f;
  biased.maxMipmapLevelClamp = 2;
  const CUtexObject t = texture(biased);
  EXPECT_EQ(read("sample", t, 0), 100);  // level 1, then 1.5
  EXPECT_EQ(read("sample", t, 3), 100);
  OK(cuTexObjectDestroy(t));
  CUDA_TEXTURE_DESC usual = reading();
  usual.maxMipmapLevelClamp = 0;  // as in a zeroed description: the first level only
  const CUtexObject first = texture(usual);
  EXPECT_EQ(read("sample", first, 3), 1);
  OK(cuTexObjectDestroy(first));
}

// A step of one texel of level 0 is 1/8.
TEST_F(Mipmaps, GiveTheLevelOfSteps) {
  const CUtexObject t = texture(reading(CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ(read("step", t, 1.0f / 8), 1);
  EXPECT_EQ(read("step", t, 2.0f / 8), 10);
  EXPECT_EQ(read("step", t, 4.0f / 8), 100);
  EXPECT_EQ(read("step", t, 0), 1);
  EXPECT_EQ(read("step", t, 0.01f), 1);
  OK(cuTexObjectDestroy(t));
}

TEST_F(Mipmaps, GiveTexelsOfALevelAndSizes) {
  const CUtexObject t = texture(reading());
  const unsigned two = 2;
  float texel = 0;
  std::memcpy(&texel, run("texel", t, &two).data(), 4);
  EXPECT_EQ(texel, 100);
  EXPECT_EQ(run("count", t, &two), (std::vector<unsigned>{4, 4}));
  OK(cuTexObjectDestroy(t));
}

TEST_F(Mipmaps, AreSeenInPart) {
  CUDA_RESOURCE_VIEW_DESC view{};
  view.width = 4;
  view.height = 2;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  const CUtexObject t = texture(reading(), &view);
  EXPECT_EQ(read("sample", t, 0), 10);
  EXPECT_EQ(read("sample", t, 9), 100);
  OK(cuTexObjectDestroy(t));
  CUtexObject none = 0;
  const CUDA_RESOURCE_DESC made_of = resource();
  CUDA_TEXTURE_DESC read = reading();
  view.lastMipmapLevel = 7;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&none, &made_of, &read, &view));
  read.flags = 0;  // coordinates in texels are not possible with levels
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&none, &made_of, &read, nullptr));
}

}  // namespace warpgrind::driver
