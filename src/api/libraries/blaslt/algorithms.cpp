// Algorithm queries of cuBLASLt. There is one algorithm, OpenBLAS. To programs it looks like one of NVIDIA's: it has a
// tile and does not split k. Identifiers and configurations that a program stored on a GPU are accepted and all run the
// same way.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "libraries/blaslt/attributes.h"
#include "libraries/blaslt/context.h"
#include "libraries/blaslt/plan.h"

namespace warpgrind::libraries::blaslt {
namespace {

constexpr int kId = 0;
constexpr std::uint32_t kTile = CUBLASLT_MATMUL_TILE_128x128;
constexpr double kTileElements = 128 * 128;

constexpr Attribute kConfiguration[] = {{CUBLASLT_ALGO_CONFIG_ID, offsetof(Algorithm, id), sizeof(Algorithm::id), true},
                                        WG_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_TILE_ID, Algorithm, tile),
                                        WG_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, Algorithm, split_k),
                                        WG_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, Algorithm, reduction),
                                        WG_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, Algorithm, swizzling),
                                        WG_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, Algorithm, custom),
                                        WG_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_STAGES_ID, Algorithm, stages),
                                        WG_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, Algorithm, inner),
                                        WG_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, Algorithm, cluster)};

Algorithm algorithm_for(int id, int compute, int scale, int a, int b, int c, int d) {
  Algorithm out;
  out.id = id;
  out.compute = static_cast<std::int16_t>(compute);
  out.scale = static_cast<std::int16_t>(scale);
  const int types[] = {a, b, c, d};
  std::copy(std::begin(types), std::end(types), out.types);
  return out;
}

std::uint64_t numerical_flags(const Algorithm& a) {
  switch (a.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F |
             CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I |
             CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F |
             CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;
    default:
      break;
  }
  const std::uint64_t sums = CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F;
  switch (a.types[0]) {
    case CUDA_R_16F:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | sums | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F;
    case CUDA_R_16BF:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | sums | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF;
    default:
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | sums | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
  }
}

// Number of waves: blocks (one for each tile) divided by the GPU's multiprocessors.
float waves_of(const Plan& plan) {
  int device = 0, multiprocessors = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
    return 0;
  if (plan.desc.sm_count > 0) multiprocessors = plan.desc.sm_count;
  const blas::Product& p = plan.product;
  const double elements = blas::real(p.m) * blas::real(p.n) * blas::real(p.batch);
  return static_cast<float>(elements / kTileElements / multiprocessors);
}

void fill_result(const Plan& plan, cublasLtMatmulHeuristicResult_t& out) {
  out.workspaceSize = 0;
  out.state = CUBLAS_STATUS_SUCCESS;
  out.wavesCount = waves_of(plan);
  std::fill(std::begin(out.reserved), std::end(out.reserved), 0);
}

// False: the preference excludes the algorithm. Only its kinds of arithmetic and its limit of waves are considered.
bool is_preferred(const Preference& preference, const Algorithm& a, const Plan& plan) {
  if ((numerical_flags(a) & ~preference.numerical) != 0) return false;
  return preference.waves == 0 || waves_of(plan) <= preference.waves;
}

template <class T>
cublasStatus_t give(T value, void* to, std::size_t bytes, std::size_t* written) {
  return give_bytes(&value, sizeof value, to, bytes, written);
}

}  // namespace

cublasStatus_t check_algorithm(const cublasLtMatmulAlgo_t* algorithm, const Plan& plan) {
  const auto* const a = content<Algorithm>(algorithm);
  WG_REQUIRE(a);
  const int types[] = {plan.a.element(), plan.b.element(), plan.c.element(), plan.d.element()};
  WG_REQUIRE(a->compute == plan.desc.compute && a->scale == plan.desc.scale &&
             std::equal(std::begin(types), std::end(types), a->types));
  const bool exists = a->tile < CUBLASLT_MATMUL_TILE_END && a->stages < CUBLASLT_MATMUL_STAGES_END && a->split_k >= 0 &&
                      a->reduction <= CUBLASLT_REDUCTION_SCHEME_MASK && a->swizzling <= 1 &&
                      a->inner < CUBLASLT_MATMUL_INNER_SHAPE_END && a->cluster < CUBLASLT_CLUSTER_SHAPE_END;
  return exists ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace warpgrind::libraries::blaslt

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blaslt;

extern "C" {

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* returned) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto* const wanted = content<Preference>(preference);
  WG_REQUIRE(returned && results && requested > 0 && wanted);
  *returned = 0;
  Plan plan;
  if (const cublasStatus_t wrong = make_plan(desc, a, b, c, d, plan)) return wrong;
  const auto* const given =
      wanted->search == CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID ? content<Algorithm>(&results[0].algo) : nullptr;
  WG_REQUIRE(given || wanted->search != CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID);
  Algorithm algorithm = algorithm_for(given ? given->id : kId, plan.desc.compute, plan.desc.scale, plan.a.element(),
                                      plan.b.element(), plan.c.element(), plan.d.element());
  algorithm.tile = kTile;
  if (!is_preferred(*wanted, algorithm, plan)) return CUBLAS_STATUS_NOT_SUPPORTED;
  std::memcpy(&results[0].algo, &algorithm, sizeof algorithm);
  fill_result(plan, results[0]);
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType scale,
                                        cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d, int requested,
                                        int ids[], int* returned) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  WG_REQUIRE(requested > 0 && ids && returned);
  *returned = 0;
  if (!are_types(compute, scale, a, b, c, d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  ids[0] = kId;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType scale,
                                      cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType d, int id,
                                      cublasLtMatmulAlgo_t* algorithm) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  WG_REQUIRE(algorithm && id >= 0);
  if (!are_types(compute, scale, a, b, c, d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  *algorithm = {};
  const Algorithm made = algorithm_for(id, compute, scale, a, b, c, d);
  std::memcpy(algorithm, &made, sizeof made);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  WG_REQUIRE(result);
  Plan plan;
  result->state = make_plan(desc, a, b, c, d, plan);
  if (result->state == CUBLAS_STATUS_SUCCESS) result->state = check_algorithm(algorithm, plan);
  if (result->state == CUBLAS_STATUS_SUCCESS) fill_result(plan, *result);
  return result->state;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t name, void* to, size_t bytes,
                                                 size_t* written) {
  const auto* const a = content<Algorithm>(algorithm);
  WG_REQUIRE(a);
  const auto input = static_cast<cudaDataType>(a->types[0]), output = static_cast<cudaDataType>(a->types[3]);
  const std::uint32_t stages = CUBLASLT_MATMUL_STAGES_UNDEFINED;
  switch (name) {
    case CUBLASLT_ALGO_CAP_TILE_IDS:
      return give_bytes(&kTile, sizeof kTile, to, bytes, written, true);
    case CUBLASLT_ALGO_CAP_STAGES_IDS:
      return give_bytes(&stages, sizeof stages, to, bytes, written, true);
    case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
    case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
    case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
    case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
    case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
    case CUBLASLT_ALGO_CAP_LD_NEGATIVE:
    case CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT:
      return give(std::int32_t{0}, to, bytes, written);
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT:
    case CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT:
      return give(std::int32_t{1}, to, bytes, written);
    case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
      return give(std::int32_t{input == CUDA_R_8I}, to, bytes, written);
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
      return give(std::uint32_t{31}, to, bytes, written);  // every bit of cublasLtPointerModeMask_t
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK:
      return give(epilogue_mask(input, output), to, bytes, written);
    case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS:
      return give(numerical_flags(*a), to, bytes, written);
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
      return give(static_cast<std::uint32_t>(element_bytes(input)), to, bytes, written);
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES:
      return give(static_cast<std::uint32_t>(element_bytes(output)), to, bytes, written);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t name, const void* from,
                                                    size_t bytes) {
  return set_attribute(kConfiguration, content<Algorithm>(algorithm), name, from, bytes);
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t name, void* to, size_t bytes,
                                                    size_t* written) {
  return get_attribute(kConfiguration, content<Algorithm>(algorithm), name, to, bytes, written);
}

}  // extern "C"
