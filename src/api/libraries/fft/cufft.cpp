// Functions of cuFFT and cufftXt.
#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <fmt/format.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>

#include "libraries/common/handles.h"
#include "libraries/fft/transform.h"

namespace warpgrind::libraries::fft {
namespace {

// Object behind a cufftHandle.
struct Plan {
  std::shared_ptr<Plans> made;  // null: after cufftCreate, before cufftMakePlan*
  cudaStream_t stream = nullptr;
  std::map<cufftProperty, long long> properties;
};
Handles<cufftHandle, Plan>& plans() {
  return handles<cufftHandle, Plan>();
}

template <class Body>
cufftResult with(cufftHandle handle, Body&& body) {
  const std::shared_ptr<Plan> plan = plans().find(handle);
  return plan ? body(*plan) : CUFFT_INVALID_PLAN;
}

bool is_type(cufftType type) {
  switch (type) {
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_C2C:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
    case CUFFT_Z2Z:
      return true;
  }
  return false;
}

// The caller's layout of one side (input or output). Int: int or long long.
template <class Int>
struct Side {
  const Int* embed;
  Int stride, distance;
};
template <class Int>
cufftResult describe(Transform& t, int rank, const Int* n, const Side<Int>& in, const Side<Int>& out, cufftType type,
                     Int batch) {
  if (!is_type(type)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > kMostDimensions || !n) return CUFFT_INVALID_VALUE;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  t.type = type;
  t.rank = rank;
  t.batch = batch;
  // As documented, the layout is ignored unless both arrays' sizes (inembed, onembed) are given.
  t.own_layout = in.embed && out.embed;
  for (int i = 0; i < rank; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (n[i] < 1) return CUFFT_INVALID_SIZE;
    t.n[k] = n[i];
    if (!t.own_layout) continue;
    if (i > 0 && (in.embed[i] < 1 || out.embed[i] < 1)) return CUFFT_INVALID_SIZE;
    t.in.embed[k] = in.embed[i];
    t.out.embed[k] = out.embed[i];
  }
  if (t.own_layout) {
    if (in.stride < 1 || out.stride < 1 || in.distance < 0 || out.distance < 0) return CUFFT_INVALID_VALUE;
    t.in.stride = in.stride;
    t.in.distance = in.distance;
    t.out.stride = out.stride;
    t.out.distance = out.distance;
  }
  return CUFFT_SUCCESS;
}

cufftResult begin() {
  if (cudaFree(nullptr) != cudaSuccess) return CUFFT_SETUP_FAILED;
  warpgrind_library_begin("cuFFT", "FFTW");
  return CUFFT_SUCCESS;
}

cufftResult make(cufftHandle handle, const Transform& t, cufftResult described, std::size_t* work_bytes) {
  return with(handle, [&](Plan& plan) {
    if (described != CUFFT_SUCCESS) return described;
    if (plan.made) return CUFFT_INVALID_PLAN;  // a plan can be made only once
    if (!work_bytes) return CUFFT_INVALID_VALUE;
    const std::string& missing = t.is_double() ? fftw<double>().missing : fftw<float>().missing;
    if (!missing.empty()) {
      warpgrind_library_missing(("cuFFT needs FFTW on the host: " + missing).c_str());
      return CUFFT_SETUP_FAILED;
    }
    plan.made = std::make_shared<Plans>(t);
    *work_bytes = t.work_bytes();
    return CUFFT_SUCCESS;
  });
}
template <class Int>
cufftResult make_many(cufftHandle handle, int rank, const Int* n, const Side<Int>& in, const Side<Int>& out,
                      cufftType type, Int batch, std::size_t* work_bytes) {
  Transform t;
  const cufftResult described = describe(t, rank, n, in, out, type, batch);
  return make(handle, t, described, work_bytes);
}
template <class Int>
cufftResult size_many(int rank, const Int* n, const Side<Int>& in, const Side<Int>& out, cufftType type, Int batch,
                      std::size_t* work_bytes) {
  Transform t;
  const cufftResult described = describe(t, rank, n, in, out, type, batch);
  if (described != CUFFT_SUCCESS) return described;
  if (!work_bytes) return CUFFT_INVALID_VALUE;
  *work_bytes = t.work_bytes();
  return CUFFT_SUCCESS;
}

constexpr Side<int> kDense{nullptr, 1, 0};

template <class Make>
cufftResult create_and(cufftHandle* out, Make make) {
  if (!out) return CUFFT_INVALID_VALUE;
  cufftHandle handle = 0;
  if (const cufftResult created = cufftCreate(&handle); created != CUFFT_SUCCESS) return created;
  std::size_t work_bytes = 0;
  const cufftResult made = make(handle, &work_bytes);
  if (made == CUFFT_SUCCESS)
    *out = handle;
  else
    cufftDestroy(handle);
  return made;
}

std::string shape_of(const Transform& t) {
  std::string text = std::to_string(t.n[0]);
  for (int i = 1; i < t.rank; ++i) text += " x " + std::to_string(t.n[static_cast<std::size_t>(i)]);
  if (t.batch > 1) text += fmt::format(", {} times", t.batch);
  return text;
}

cufftResult execute(cufftHandle handle, const char* function, std::optional<cufftType> type, void* in, void* out,
                    int direction) {
  return with(handle, [&](Plan& plan) {
    if (!plan.made || (type && plan.made->transform().type != *type)) return CUFFT_INVALID_PLAN;
    if (!in || !out || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)) return CUFFT_INVALID_VALUE;
    const Transform& t = plan.made->transform();
    const auto run = [made = plan.made, in, out, direction](LibraryRun& access) {
      const Transform& transform = made->transform();
      const bool in_place = in == out;
      if (!access.reads("idata", in, transform.bytes(true, in_place)) ||
          !access.writes("odata", out, transform.bytes(false, in_place)))
        return;
      if (!made->execute(in, out, direction)) access.fail("FFTW has no plan for this transform");
    };
    const LibraryIssue issued = issue({function, shape_of(t) + (direction == CUFFT_INVERSE ? ", inverse" : "")}, "FFTW",
                                      t.work(), plan.stream, false, run);
    return issued == LibraryIssue::done ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
  });
}

// Type of a plan from the types of its data; nullopt: not supported.
std::optional<cufftType> type_of(cudaDataType in, cudaDataType out, cudaDataType execution) {
  const bool doubles = execution == CUDA_C_64F || execution == CUDA_R_64F;
  const cudaDataType real = doubles ? CUDA_R_64F : CUDA_R_32F, complex = doubles ? CUDA_C_64F : CUDA_C_32F;
  if (execution != real && execution != complex) return std::nullopt;
  if (in == complex && out == complex) return doubles ? CUFFT_Z2Z : CUFFT_C2C;
  if (in == real && out == complex) return doubles ? CUFFT_D2Z : CUFFT_R2C;
  if (in == complex && out == real) return doubles ? CUFFT_Z2D : CUFFT_C2R;
  return std::nullopt;
}

cufftResult not_supported(const char* function, const char* why) {
  warpgrind_library_missing(fmt::format("{}: {}", function, why).c_str());
  return CUFFT_NOT_SUPPORTED;
}
constexpr const char* kOneGpu = "transforms over several GPUs are not supported";
constexpr const char* kNoCallbacks = "callbacks into device code are not supported";

}  // namespace
}  // namespace warpgrind::libraries::fft

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::fft;

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  static std::atomic<int> next{1};
  if (!handle) return CUFFT_INVALID_VALUE;
  if (const cufftResult begun = begin(); begun != CUFFT_SUCCESS) return begun;
  *handle = next++;
  plans().add(*handle, std::make_shared<Plan>());
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) {
  return plans().remove(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return with(plan, [&](Plan& p) {
    p.stream = stream;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* bytes) {
  return make_many(plan, 1, &nx, kDense, kDense, type, batch, bytes);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* bytes) {
  const int n[] = {nx, ny};
  return make_many(plan, 2, n, kDense, kDense, type, 1, bytes);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* bytes) {
  const int n[] = {nx, ny, nz};
  return make_many(plan, 3, n, kDense, kDense, type, 1, bytes);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* bytes) {
  return make_many<int>(plan, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch, bytes);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                                long long batch, size_t* bytes) {
  return make_many<long long>(plan, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch, bytes);
}

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return create_and(plan, [&](cufftHandle h, size_t* bytes) { return cufftMakePlan1d(h, nx, type, batch, bytes); });
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return create_and(plan, [&](cufftHandle h, size_t* bytes) { return cufftMakePlan2d(h, nx, ny, type, bytes); });
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return create_and(plan, [&](cufftHandle h, size_t* bytes) { return cufftMakePlan3d(h, nx, ny, nz, type, bytes); });
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
  return create_and(plan, [&](cufftHandle h, size_t* bytes) {
    return cufftMakePlanMany(h, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, bytes);
  });
}

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* bytes) {
  return size_many(1, &nx, kDense, kDense, type, batch, bytes);
}
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* bytes) {
  const int n[] = {nx, ny};
  return size_many(2, n, kDense, kDense, type, 1, bytes);
}
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* bytes) {
  const int n[] = {nx, ny, nz};
  return size_many(3, n, kDense, kDense, type, 1, bytes);
}
cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                              int odist, cufftType type, int batch, size_t* bytes) {
  return size_many<int>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch, bytes);
}
cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* bytes) {
  return with(plan, [&](Plan&) { return cufftEstimate1d(nx, type, batch, bytes); });
}
cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* bytes) {
  return with(plan, [&](Plan&) { return cufftEstimate2d(nx, ny, type, bytes); });
}
cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* bytes) {
  return with(plan, [&](Plan&) { return cufftEstimate3d(nx, ny, nz, type, bytes); });
}
cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                             int ostride, int odist, cufftType type, int batch, size_t* bytes) {
  return with(plan, [&](Plan&) {
    return cufftEstimateMany(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, bytes);
  });
}
cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                               long long idist, long long* onembed, long long ostride, long long odist, cufftType type,
                               long long batch, size_t* bytes) {
  return with(plan, [&](Plan&) {
    return size_many<long long>(rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch, bytes);
  });
}
cufftResult cufftGetSize(cufftHandle plan, size_t* bytes) {
  return with(plan, [&](Plan& p) {
    if (!p.made || !bytes) return p.made ? CUFFT_INVALID_VALUE : CUFFT_INVALID_PLAN;
    *bytes = p.made->transform().work_bytes();
    return CUFFT_SUCCESS;
  });
}
// Has no effect: our work needs no device memory. Any work area is accepted.
cufftResult cufftSetWorkArea(cufftHandle plan, void*) {
  return with(plan, [](Plan&) { return CUFFT_SUCCESS; });
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int) {
  return with(plan, [](Plan&) { return CUFFT_SUCCESS; });
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute(plan, "cufftExecC2C", CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return execute(plan, "cufftExecZ2Z", CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute(plan, "cufftExecR2C", CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute(plan, "cufftExecD2Z", CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute(plan, "cufftExecC2R", CUFFT_C2R, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute(plan, "cufftExecZ2D", CUFFT_Z2D, in, out, CUFFT_INVERSE);
}

cufftResult cufftGetVersion(int* version) {
  if (!version) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUFFT_VER_MAJOR : type == MINOR_VERSION ? CUFFT_VER_MINOR : CUFFT_VER_PATCH;
  return CUFFT_SUCCESS;
}
cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty property, long long value) {
  return with(plan, [&](Plan& p) {
    p.properties[property] = value;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty property, long long* value) {
  return with(plan, [&](Plan& p) {
    if (!value) return CUFFT_INVALID_VALUE;
    *value = p.properties[property];
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty property) {
  return with(plan, [&](Plan& p) {
    p.properties.erase(property);
    return CUFFT_SUCCESS;
  });
}

// ---- cufftXt.h
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                long long idist, cudaDataType in, long long* onembed, long long ostride,
                                long long odist, cudaDataType out, long long batch, size_t* bytes,
                                cudaDataType execution) {
  const std::optional<cufftType> type = type_of(in, out, execution);
  if (!type) return not_supported("cufftXtMakePlanMany", "only float and double, and their complex numbers");
  return cufftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, *type, batch, bytes);
}
cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                               long long idist, cudaDataType in, long long* onembed, long long ostride, long long odist,
                               cudaDataType out, long long batch, size_t* bytes, cudaDataType execution) {
  const std::optional<cufftType> type = type_of(in, out, execution);
  if (!type) return not_supported("cufftXtGetSizeMany", "only float and double, and their complex numbers");
  return cufftGetSizeMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, *type, batch, bytes);
}
cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction) {
  return with(plan, [&](Plan& p) {
    if (!p.made) return CUFFT_INVALID_PLAN;
    const Transform& t = p.made->transform();  // the type of a real transform determines its direction
    return execute(plan, "cufftXtExec", std::nullopt, in, out,
                   t.reads_real()    ? CUFFT_FORWARD
                   : t.writes_real() ? CUFFT_INVERSE
                                     : direction);
  });
}
cufftResult cufftXtSetGPUs(cufftHandle, int, int*) {
  return not_supported("cufftXtSetGPUs", kOneGpu);
}
cufftResult cufftXtMalloc(cufftHandle, cudaLibXtDesc**, cufftXtSubFormat) {
  return not_supported("cufftXtMalloc", kOneGpu);
}
cufftResult cufftXtMemcpy(cufftHandle, void*, void*, cufftXtCopyType) {
  return not_supported("cufftXtMemcpy", kOneGpu);
}
cufftResult cufftXtFree(cudaLibXtDesc*) {
  return not_supported("cufftXtFree", kOneGpu);
}
cufftResult cufftXtExecDescriptorC2C(cufftHandle, cudaLibXtDesc*, cudaLibXtDesc*, int) {
  return not_supported("cufftXtExecDescriptorC2C", kOneGpu);
}
cufftResult cufftXtExecDescriptorZ2Z(cufftHandle, cudaLibXtDesc*, cudaLibXtDesc*, int) {
  return not_supported("cufftXtExecDescriptorZ2Z", kOneGpu);
}
cufftResult cufftXtExecDescriptorR2C(cufftHandle, cudaLibXtDesc*, cudaLibXtDesc*) {
  return not_supported("cufftXtExecDescriptorR2C", kOneGpu);
}
cufftResult cufftXtExecDescriptorC2R(cufftHandle, cudaLibXtDesc*, cudaLibXtDesc*) {
  return not_supported("cufftXtExecDescriptorC2R", kOneGpu);
}
cufftResult cufftXtExecDescriptorD2Z(cufftHandle, cudaLibXtDesc*, cudaLibXtDesc*) {
  return not_supported("cufftXtExecDescriptorD2Z", kOneGpu);
}
cufftResult cufftXtExecDescriptorZ2D(cufftHandle, cudaLibXtDesc*, cudaLibXtDesc*) {
  return not_supported("cufftXtExecDescriptorZ2D", kOneGpu);
}
cufftResult cufftXtSetCallback(cufftHandle, void**, cufftXtCallbackType, void**) {
  return not_supported("cufftXtSetCallback", kNoCallbacks);
}
cufftResult cufftXtClearCallback(cufftHandle, cufftXtCallbackType) {
  return not_supported("cufftXtClearCallback", kNoCallbacks);
}
cufftResult cufftXtSetCallbackSharedSize(cufftHandle, cufftXtCallbackType, size_t) {
  return not_supported("cufftXtSetCallbackSharedSize", kNoCallbacks);
}

}  // extern "C"
