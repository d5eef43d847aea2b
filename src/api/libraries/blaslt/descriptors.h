// Contents of cuBLASLt's semi-opaque descriptors. A descriptor may lie in the program's memory, and the program may
// copy it byte by byte, so the contents are plain data. They begin with a mark, which an uninitialised descriptor
// lacks.
#pragma once

#include <cublasLt.h>

#include <cstdint>

namespace warpgrind::libraries::blaslt {

struct Layout {
  static constexpr std::uint64_t kMark = 0x77672d6c61796f75;
  std::uint64_t mark = kMark;
  std::uint32_t type = CUDA_R_32F;
  std::int32_t order = CUBLASLT_ORDER_COL;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0;
  std::int32_t batch = 1, batch_mode = CUBLASLT_BATCH_MODE_STRIDED;
  std::int64_t stride = 0, plane_offset = 0;

  cudaDataType element() const { return static_cast<cudaDataType>(type); }
};

struct MatmulDesc {
  static constexpr std::uint64_t kMark = 0x77672d6d61746d75;
  std::uint64_t mark = kMark;
  std::int32_t compute = CUBLAS_COMPUTE_32F, scale = CUDA_R_32F, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N, transc = CUBLAS_OP_N;
  std::int32_t fill = CUBLAS_FILL_MODE_FULL;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int32_t bias_type = -1, aux_type = -1, sm_count = 0;
  std::int32_t scale_modes[6] = {};  // of A, B, C, D, the auxiliary matrix, the scale of D
  std::int8_t fast_accumulation = 0;
  void *bias = nullptr, *aux = nullptr;
  const void* scales[8] = {};  // scales of A, B, C, D; amax of D; scale and amax of the auxiliary matrix; scale of D
  std::int64_t bias_stride = 0, aux_ld = 0, aux_stride = 0, alpha_stride = 0;
};

struct TransformDesc {
  static constexpr std::uint64_t kMark = 0x77672d7472616e73;
  std::uint64_t mark = kMark;
  std::int32_t scale = CUDA_R_32F, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
};

struct Preference {
  static constexpr std::uint64_t kMark = 0x77672d7072656665;
  std::uint64_t mark = kMark;
  std::uint64_t workspace = 0, numerical = ~std::uint64_t{0};
  std::uint32_t search = CUBLASLT_SEARCH_BEST_FIT, reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
  float waves = 0;
};

struct Algorithm {
  static constexpr std::uint64_t kMark = 0x77672d616c676f72;
  std::uint64_t mark = kMark;
  std::int32_t id = 0;
  std::uint32_t tile = CUBLASLT_MATMUL_TILE_UNDEFINED;
  std::int32_t split_k = 1;
  std::uint32_t reduction = CUBLASLT_REDUCTION_SCHEME_NONE, swizzling = 0, custom = 0;
  std::uint32_t stages = CUBLASLT_MATMUL_STAGES_UNDEFINED;
  std::uint16_t inner = CUBLASLT_MATMUL_INNER_SHAPE_UNDEFINED, cluster = CUBLASLT_CLUSTER_SHAPE_AUTO;
  std::int16_t compute = 0, scale = 0, types[4] = {};  // arguments of cublasLtMatmulAlgoInit
};

static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t) &&
              sizeof(MatmulDesc) <= sizeof(cublasLtMatmulDescOpaque_t) &&
              sizeof(TransformDesc) <= sizeof(cublasLtMatrixTransformDescOpaque_t) &&
              sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t) &&
              sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

// nullptr: the descriptor is null or was never initialised.
template <class Content, class Opaque>
auto content(Opaque* descriptor) {
  using To = std::conditional_t<std::is_const_v<Opaque>, const Content, Content>;
  auto* const at = reinterpret_cast<To*>(descriptor);
  return at && at->mark == Content::kMark ? at : nullptr;
}

}  // namespace warpgrind::libraries::blaslt
