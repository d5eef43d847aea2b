// cuFFT: every way to make a plan transforms the same; sizes, properties, versions; what one GPU cannot do is refused.
#include <cufft.h>
#include <cufftXt.h>

#include <functional>
#include <iterator>

#include "library_test.h"

namespace warpgrind::test {
namespace {

#define DONE(...) ASSERT_EQ(__VA_ARGS__, CUFFT_SUCCESS)

struct Plan {
  Plan() { EXPECT_EQ(cufftCreate(&handle), CUFFT_SUCCESS); }
  ~Plan() { EXPECT_EQ(cufftDestroy(handle), CUFFT_SUCCESS); }
  cufftHandle handle = 0;
};

// A wave along x of nx x rest points has its one value at x = 1.
void expect_transform(cufftHandle plan, int nx, int rest) {
  const Array<Complex> data(static_cast<std::size_t>(nx * rest));
  for (int i = 0; i < nx * rest; ++i)
    data[static_cast<std::size_t>(i)] =
        std::polar(1.0f, 2 * 3.14159265f * static_cast<float>(i / rest) / static_cast<float>(nx));
  DONE(cufftExecC2C(plan, data.as<cufftComplex>(), data.as<cufftComplex>(), CUFFT_FORWARD));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < nx * rest; ++i)
    EXPECT_LE(std::abs(data[static_cast<std::size_t>(i)] - (i == rest ? static_cast<float>(nx * rest) : 0.0f)), 1e-3)
        << i;
}

TEST(FftPlans, EveryWayToMakeOne) {
  constexpr int kX = 12;
  constexpr cufftType kType = CUFFT_C2C;
  int n[] = {kX, 5, 3};
  long long wide[] = {kX, 5, 3};
  using Make = std::function<cufftResult(cufftHandle, size_t*)>;
  struct Way {
    int rest;
    Make make, size;
    std::function<cufftResult(size_t*)> estimate;
  };
  const Way ways[] = {
      {1, [](cufftHandle p, size_t* b) { return cufftMakePlan1d(p, kX, kType, 1, b); },
       [](cufftHandle p, size_t* b) { return cufftGetSize1d(p, kX, kType, 1, b); },
       [](size_t* b) { return cufftEstimate1d(kX, kType, 1, b); }},
      {5, [](cufftHandle p, size_t* b) { return cufftMakePlan2d(p, kX, 5, kType, b); },
       [](cufftHandle p, size_t* b) { return cufftGetSize2d(p, kX, 5, kType, b); },
       [](size_t* b) { return cufftEstimate2d(kX, 5, kType, b); }},
      {15, [](cufftHandle p, size_t* b) { return cufftMakePlan3d(p, kX, 5, 3, kType, b); },
       [](cufftHandle p, size_t* b) { return cufftGetSize3d(p, kX, 5, 3, kType, b); },
       [](size_t* b) { return cufftEstimate3d(kX, 5, 3, kType, b); }},
      {15,
       [&](cufftHandle p, size_t* b) { return cufftMakePlanMany(p, 3, n, nullptr, 1, 0, nullptr, 1, 0, kType, 1, b); },
       [&](cufftHandle p, size_t* b) { return cufftGetSizeMany(p, 3, n, nullptr, 1, 0, nullptr, 1, 0, kType, 1, b); },
       [&](size_t* b) { return cufftEstimateMany(3, n, nullptr, 1, 0, nullptr, 1, 0, kType, 1, b); }},
      {15,
       [&](cufftHandle p, size_t* b) {
         return cufftMakePlanMany64(p, 3, wide, nullptr, 1, 0, nullptr, 1, 0, kType, 1, b);
       },
       [&](cufftHandle p, size_t* b) {
         return cufftGetSizeMany64(p, 3, wide, nullptr, 1, 0, nullptr, 1, 0, kType, 1, b);
       },
       [&](size_t* b) {
         const Plan plan;
         return cufftXtGetSizeMany(plan.handle, 3, wide, nullptr, 1, 0, CUDA_C_32F, nullptr, 1, 0, CUDA_C_32F, 1, b,
                                   CUDA_C_32F);
       }}};
  for (const Way& way : ways) {
    const Plan plan;
    size_t made = ~size_t{0}, asked = 1, estimated = 2, known = 3;
    DONE(way.size(plan.handle, &asked));
    DONE(way.estimate(&estimated));
    DONE(way.make(plan.handle, &made));
    DONE(cufftGetSize(plan.handle, &known));
    EXPECT_EQ(made, known);
    EXPECT_EQ(asked, known);
    EXPECT_EQ(estimated, known);
    DONE(cufftSetWorkArea(plan.handle, nullptr));
    expect_transform(plan.handle, kX, way.rest);
    EXPECT_NE(way.make(cufftHandle{9999}, &made), CUFFT_SUCCESS);
    EXPECT_NE(way.size(cufftHandle{9999}, &asked), CUFFT_SUCCESS);
  }
  size_t bytes = 0;
  EXPECT_EQ(cufftEstimate1d(0, kType, 1, &bytes), CUFFT_INVALID_SIZE);
}

TEST(FftPlans, VersionsAndProperties) {
  int version = 0, major = 0, minor = 0, patch = 0;
  DONE(cufftGetVersion(&version));
  DONE(cufftGetProperty(MAJOR_VERSION, &major));
  DONE(cufftGetProperty(MINOR_VERSION, &minor));
  DONE(cufftGetProperty(PATCH_LEVEL, &patch));
  EXPECT_EQ(version, 1000 * major + 100 * minor + patch);
  EXPECT_EQ(cufftGetVersion(nullptr), CUFFT_INVALID_VALUE);
  EXPECT_EQ(cufftGetProperty(MAJOR_VERSION, nullptr), CUFFT_INVALID_VALUE);
  const Plan plan;
  long long value = 0;
  constexpr cufftProperty kProperty = NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT;
  DONE(cufftSetPlanPropertyInt64(plan.handle, kProperty, 1));
  DONE(cufftGetPlanPropertyInt64(plan.handle, kProperty, &value));
  EXPECT_EQ(value, 1);
  DONE(cufftResetPlanProperty(plan.handle, kProperty));
  DONE(cufftGetPlanPropertyInt64(plan.handle, kProperty, &value));
  EXPECT_EQ(value, 0);
  EXPECT_NE(cufftSetPlanPropertyInt64(cufftHandle{9999}, kProperty, 1), CUFFT_SUCCESS);
}

// Not even an error later: each says so at once.
TEST(FftPlans, SeveralGpusAndCallbacksAreRefused) {
  const Plan plan;
  const cufftHandle p = plan.handle;
  int gpus[] = {0, 1};
  cudaLibXtDesc* none = nullptr;
  constexpr cufftXtCallbackType kLoad = CUFFT_CB_LD_COMPLEX;
  const cufftResult results[] = {cufftXtSetGPUs(p, 2, gpus),
                                 cufftXtMalloc(p, &none, CUFFT_XT_FORMAT_INPLACE),
                                 cufftXtMemcpy(p, nullptr, nullptr, CUFFT_COPY_HOST_TO_DEVICE),
                                 cufftXtFree(none),
                                 cufftXtExecDescriptorC2C(p, none, none, CUFFT_FORWARD),
                                 cufftXtExecDescriptorZ2Z(p, none, none, CUFFT_FORWARD),
                                 cufftXtExecDescriptorR2C(p, none, none),
                                 cufftXtExecDescriptorC2R(p, none, none),
                                 cufftXtExecDescriptorD2Z(p, none, none),
                                 cufftXtExecDescriptorZ2D(p, none, none),
                                 cufftXtSetCallback(p, nullptr, kLoad, nullptr),
                                 cufftXtClearCallback(p, kLoad),
                                 cufftXtSetCallbackSharedSize(p, kLoad, 16)};
  for (std::size_t i = 0; i < std::size(results); ++i) EXPECT_EQ(results[i], CUFFT_NOT_SUPPORTED) << i;
}

}  // namespace
}  // namespace warpgrind::test
