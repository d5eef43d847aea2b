// cuBLASLt: descriptors, algorithms, and what wrong arguments give.
#include <cstring>

#include "blaslt_matrices.h"

namespace warpgrind::test {
namespace {

constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kNone = CUBLAS_STATUS_NOT_INITIALIZED;

// Sets, asks for the size, and gets every attribute of a descriptor; sizes as the documentation has them.
template <class Handle, class Name>
void expect_attribute(Handle handle, cublasStatus_t (*set)(Handle, Name, const void*, size_t),
                      cublasStatus_t (*get)(Handle, Name, void*, size_t, size_t*), int name, std::size_t bytes) {
  const auto attribute = static_cast<Name>(name);
  unsigned char value[8], back[8] = {};
  for (std::size_t i = 0; i < 8; ++i) value[i] = static_cast<unsigned char>(name + static_cast<int>(i) + 1);
  std::size_t written = 0;
  SCOPED_TRACE(name);
  DONE(set(handle, attribute, value, bytes));
  DONE(get(handle, attribute, nullptr, 0, &written));
  EXPECT_EQ(written, bytes);
  DONE(get(handle, attribute, back, bytes, &written));
  EXPECT_EQ(std::memcmp(value, back, bytes), 0);
  DONE(get(handle, attribute, back, bytes, nullptr));
  EXPECT_EQ(set(handle, attribute, value, bytes + 1), kInvalid);
  EXPECT_EQ(set(handle, attribute, nullptr, bytes), kInvalid);
  EXPECT_EQ(set(nullptr, attribute, value, bytes), kInvalid);
  EXPECT_EQ(get(handle, attribute, back, bytes + 1, &written), kInvalid);
  EXPECT_EQ(get(handle, attribute, nullptr, bytes, &written), kInvalid);
  EXPECT_EQ(get(handle, attribute, back, 0, nullptr), kInvalid);
  EXPECT_EQ(get(nullptr, attribute, back, bytes, &written), kInvalid);
  EXPECT_EQ(set(handle, static_cast<Name>(99), value, bytes), kInvalid);
  EXPECT_EQ(get(handle, static_cast<Name>(99), back, bytes, &written), kInvalid);
}

TEST(BlasLtDescriptors, Attributes) {
  cublasLtMatrixLayout_t layout = nullptr;
  DONE(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 4, 5, 6));
  constexpr std::size_t kLayout[] = {4, 4, 8, 8, 8, 4, 8, 8, 4};
  for (int i = 0; i < 9; ++i)
    expect_attribute(layout, cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayoutGetAttribute, i, kLayout[i]);
  DONE(cublasLtMatrixLayoutDestroy(layout));

  cublasLtMatmulDesc_t desc = nullptr;
  DONE(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const struct {
    int name;
    std::size_t bytes;
  } of_matmul[] = {{0, 4},  {1, 4},  {2, 4},  {3, 4},  {4, 4},  {5, 4},  {6, 4},  {7, 4},  {8, 8},  {10, 8}, {11, 8},
                   {12, 8}, {13, 8}, {14, 8}, {15, 4}, {17, 8}, {18, 8}, {19, 8}, {20, 8}, {21, 8}, {22, 4}, {23, 8},
                   {24, 8}, {25, 1}, {26, 4}, {31, 4}, {32, 4}, {33, 4}, {34, 4}, {35, 4}, {36, 8}, {37, 4}};
  for (const auto& a : of_matmul)
    expect_attribute(desc, cublasLtMatmulDescSetAttribute, cublasLtMatmulDescGetAttribute, a.name, a.bytes);
  DONE(cublasLtMatmulDescDestroy(desc));

  cublasLtMatrixTransformDesc_t transform = nullptr;
  DONE(cublasLtMatrixTransformDescCreate(&transform, CUDA_R_32F));
  for (int i = 0; i < 4; ++i)
    expect_attribute(transform, cublasLtMatrixTransformDescSetAttribute, cublasLtMatrixTransformDescGetAttribute, i, 4);
  DONE(cublasLtMatrixTransformDescDestroy(transform));

  cublasLtMatmulPreference_t preference = nullptr;
  DONE(cublasLtMatmulPreferenceCreate(&preference));
  const struct {
    int name;
    std::size_t bytes;
  } of_preference[] = {{0, 4}, {1, 8}, {3, 4}, {5, 4}, {6, 4}, {7, 4}, {8, 4}, {9, 4}, {12, 8}};
  for (const auto& a : of_preference)
    expect_attribute(preference, cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceGetAttribute, a.name,
                     a.bytes);
  DONE(cublasLtMatmulPreferenceDestroy(preference));
}

template <class T, class Handle, class Name>
T value_of(Handle handle, cublasStatus_t (*get)(Handle, Name, void*, size_t, size_t*), Name name) {
  T value{};
  EXPECT_EQ(get(handle, name, &value, sizeof value, nullptr), CUBLAS_STATUS_SUCCESS);
  return value;
}

TEST(BlasLtDescriptors, Defaults) {
  cublasLtMatrixLayoutOpaque_t layout;  // in memory of the program
  DONE(cublasLtMatrixLayoutInit(&layout, CUDA_R_16F, 4, 5, 6));
  const auto of_layout = cublasLtMatrixLayoutGetAttribute;
  EXPECT_EQ(value_of<std::uint32_t>(&layout, of_layout, CUBLASLT_MATRIX_LAYOUT_TYPE), CUDA_R_16F);
  EXPECT_EQ(value_of<std::int32_t>(&layout, of_layout, CUBLASLT_MATRIX_LAYOUT_ORDER), CUBLASLT_ORDER_COL);
  EXPECT_EQ(value_of<std::uint64_t>(&layout, of_layout, CUBLASLT_MATRIX_LAYOUT_ROWS), 4u);
  EXPECT_EQ(value_of<std::uint64_t>(&layout, of_layout, CUBLASLT_MATRIX_LAYOUT_COLS), 5u);
  EXPECT_EQ(value_of<std::int64_t>(&layout, of_layout, CUBLASLT_MATRIX_LAYOUT_LD), 6);
  EXPECT_EQ(value_of<std::int32_t>(&layout, of_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), 1);
  cublasLtMatmulDescOpaque_t desc;
  DONE(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_64F, CUDA_R_64F));
  const auto of_desc = cublasLtMatmulDescGetAttribute;
  EXPECT_EQ(value_of<std::int32_t>(&desc, of_desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE), CUBLAS_COMPUTE_64F);
  EXPECT_EQ(value_of<std::int32_t>(&desc, of_desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE), CUDA_R_64F);
  EXPECT_EQ(value_of<std::int32_t>(&desc, of_desc, CUBLASLT_MATMUL_DESC_FILL_MODE), CUBLAS_FILL_MODE_FULL);
  EXPECT_EQ(value_of<std::uint32_t>(&desc, of_desc, CUBLASLT_MATMUL_DESC_EPILOGUE), CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_EQ(value_of<std::int32_t>(&desc, of_desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE), -1);
  cublasLtMatmulPreferenceOpaque_t preference;
  DONE(cublasLtMatmulPreferenceInit(&preference));
  const auto of_preference = cublasLtMatmulPreferenceGetAttribute;
  EXPECT_EQ(value_of<std::uint64_t>(&preference, of_preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES), 0u);
  EXPECT_EQ(value_of<std::uint32_t>(&preference, of_preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES), 256u);
  cublasLtMatrixTransformDescOpaque_t transform;
  DONE(cublasLtMatrixTransformDescInit(&transform, CUDA_R_32I));
  EXPECT_EQ(value_of<std::int32_t>(&transform, cublasLtMatrixTransformDescGetAttribute,
                                   CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE),
            CUDA_R_32I);
}

TEST(BlasLtDescriptors, NothingAndTooLittle) {
  EXPECT_EQ(cublasLtMatrixLayoutCreate(nullptr, CUDA_R_32F, 1, 1, 1), kInvalid);
  EXPECT_EQ(cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F), kInvalid);
  EXPECT_EQ(cublasLtMatrixTransformDescCreate(nullptr, CUDA_R_32F), kInvalid);
  EXPECT_EQ(cublasLtMatmulPreferenceCreate(nullptr), kInvalid);
  EXPECT_EQ(cublasLtMatrixLayoutInit_internal(nullptr, 64, CUDA_R_32F, 1, 1, 1), kInvalid);
  EXPECT_EQ(cublasLtMatmulDescInit_internal(nullptr, 256, CUBLAS_COMPUTE_32F, CUDA_R_32F), kInvalid);
  EXPECT_EQ(cublasLtMatrixTransformDescInit_internal(nullptr, 64, CUDA_R_32F), kInvalid);
  EXPECT_EQ(cublasLtMatmulPreferenceInit_internal(nullptr, 64), kInvalid);
  cublasLtMatrixLayoutOpaque_t small;
  EXPECT_EQ(cublasLtMatrixLayoutInit_internal(&small, 8, CUDA_R_32F, 1, 1, 1), CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(nullptr), kInvalid);
  EXPECT_EQ(cublasLtMatmulDescDestroy(nullptr), kInvalid);
  EXPECT_EQ(cublasLtMatrixTransformDescDestroy(nullptr), kInvalid);
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(nullptr), kInvalid);
  cublasLtMatmulPreference_t preference = nullptr;
  DONE(cublasLtMatmulPreferenceCreate(&preference));
  DONE(cublasLtMatmulPreferenceDestroy(preference));
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(preference), kInvalid);
}

using BlasLtCalls = BlasLt;

TEST_F(BlasLtCalls, TheLibrary) {
  EXPECT_EQ(cublasLtCreate(nullptr), kInvalid);
  EXPECT_EQ(cublasLtDestroy(nullptr), kNone);
  EXPECT_EQ(cublasLtDestroy(reinterpret_cast<cublasLtHandle_t>(0x1234)), kNone);
  EXPECT_EQ(cublasLtGetVersion(), static_cast<std::size_t>(CUBLAS_VERSION));
  EXPECT_GE(cublasLtGetCudartVersion(), 13000u);
  EXPECT_STREQ(cublasLtGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
  EXPECT_STREQ(cublasLtGetStatusString(CUBLAS_STATUS_SUCCESS), "success");
  int major = 0;
  DONE(cublasLtGetProperty(MAJOR_VERSION, &major));
  EXPECT_EQ(major, CUBLAS_VER_MAJOR);
  EXPECT_EQ(cublasLtGetProperty(MAJOR_VERSION, nullptr), kInvalid);
  EXPECT_EQ(cublasLtGetProperty(static_cast<libraryPropertyType>(7), &major), kInvalid);
  size_t capacity = 0;
  DONE(cublasLtHeuristicsCacheSetCapacity(77));
  DONE(cublasLtHeuristicsCacheGetCapacity(&capacity));
  EXPECT_EQ(capacity, 77u);
  EXPECT_EQ(cublasLtHeuristicsCacheGetCapacity(nullptr), kInvalid);
  EXPECT_EQ(cublasLtDisableCpuInstructionsSetMask(1), 0u);
  EXPECT_EQ(cublasLtDisableCpuInstructionsSetMask(0), 1u);
  DONE(cublasLtLoggerSetCallback(nullptr));
  DONE(cublasLtLoggerSetFile(nullptr));
  DONE(cublasLtLoggerOpenFile(nullptr));
  DONE(cublasLtLoggerSetLevel(5));
  EXPECT_EQ(cublasLtLoggerSetLevel(6), kInvalid);
  EXPECT_EQ(cublasLtLoggerSetLevel(-1), kInvalid);
  DONE(cublasLtLoggerSetMask(31));
  DONE(cublasLtLoggerForceDisable());
}

class Preference {
 public:
  Preference() { EXPECT_EQ(cublasLtMatmulPreferenceCreate(&handle), CUBLAS_STATUS_SUCCESS); }
  ~Preference() { EXPECT_EQ(cublasLtMatmulPreferenceDestroy(handle), CUBLAS_STATUS_SUCCESS); }
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, T value) const {
    EXPECT_EQ(cublasLtMatmulPreferenceSetAttribute(handle, attribute, &value, sizeof value), CUBLAS_STATUS_SUCCESS);
  }
  cublasLtMatmulPreference_t handle = nullptr;
};

// As CUDALibrarySamples and their like do: ask, configure, check, multiply.
TEST_F(BlasLtCalls, Algorithms) {
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, 256, 8, 1, 1), b(CUDA_R_32F, CUBLASLT_ORDER_COL, 8, 384, 1, 2);
  const Matrix d(CUDA_R_32F, CUBLASLT_ORDER_COL, 256, 384, 1, 3);
  const Description desc(kFloat);
  const Preference preference;
  cublasLtMatmulHeuristicResult_t results[3] = {};
  int count = 0;
  DONE(cublasLtMatmulAlgoGetHeuristic(handle, desc.handle, a.layout, b.layout, d.layout, d.layout, preference.handle, 3,
                                      results, &count));
  ASSERT_EQ(count, 1);
  EXPECT_EQ(results[0].state, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(results[0].workspaceSize, 0u);
  EXPECT_FLOAT_EQ(results[0].wavesCount, 6.0f / 132);  // 2 x 3 tiles of 128 x 128 on an H200
  int ids[4], got = 0;
  DONE(cublasLtMatmulAlgoGetIds(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                4, ids, &got));
  ASSERT_EQ(got, 1);
  cublasLtMatmulAlgo_t algorithm;
  DONE(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                              ids[0], &algorithm));
  std::uint32_t tiles[100];
  std::size_t bytes = 0;
  DONE(cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_TILE_IDS, nullptr, 0, &bytes));
  ASSERT_EQ(bytes, 4u);
  DONE(cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, sizeof tiles, &bytes));
  ASSERT_EQ(bytes, 4u);
  DONE(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, tiles, 4));
  cublasLtMatmulHeuristicResult_t checked = {};
  const auto check = [&] {
    return cublasLtMatmulAlgoCheck(handle, desc.handle, a.layout, b.layout, d.layout, d.layout, &algorithm, &checked);
  };
  DONE(check());
  EXPECT_EQ(checked.wavesCount, results[0].wavesCount);
  const float one = 1, zero = 0;
  const auto multiply = [&](const cublasLtMatmulAlgo_t* with) {
    return cublasLtMatmul(handle, desc.handle, &one, a.data(), a.layout, b.data(), b.layout, &zero, d.data(), d.layout,
                          d.data(), d.layout, with, nullptr, 0, nullptr);
  };
  DONE(multiply(&algorithm));
  DONE(multiply(&results[0].algo));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  // As programs bring one along from a GPU, and what there is nowhere.
  DONE(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                              10, &algorithm));
  const std::int32_t splits = 4;
  const std::uint32_t tile = CUBLASLT_MATMUL_TILE_16x16, none = CUBLASLT_MATMUL_TILE_END;
  DONE(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &splits, 4));
  DONE(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, &tile, 4));
  DONE(check());
  DONE(multiply(&algorithm));
  DONE(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID, &none, 4));
  EXPECT_EQ(check(), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(checked.state, CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(multiply(&algorithm), CUBLAS_STATUS_NOT_SUPPORTED);
  // One for other types, and one that never was.
  DONE(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F,
                              ids[0], &algorithm));
  EXPECT_EQ(check(), kInvalid);
  algorithm = {};
  EXPECT_EQ(multiply(&algorithm), kInvalid);
}

TEST_F(BlasLtCalls, PreferencesLeaveOut) {
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, 256, 256, 1, 1);
  const Description desc(kFloat);
  const Preference preference;
  cublasLtMatmulHeuristicResult_t result = {};
  int count = 0;
  const auto ask = [&] {
    return cublasLtMatmulAlgoGetHeuristic(handle, desc.handle, a.layout, a.layout, a.layout, a.layout,
                                          preference.handle, 1, &result, &count);
  };
  preference.set<float>(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 0.01f);
  EXPECT_EQ(ask(), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(count, 0);
  preference.set<float>(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 0);
  preference.set<std::uint64_t>(CUBLASLT_MATMUL_PREF_IMPL_MASK, CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA);
  EXPECT_EQ(ask(), CUBLAS_STATUS_NOT_SUPPORTED);
  preference.set<std::uint64_t>(CUBLASLT_MATMUL_PREF_IMPL_MASK, ~std::uint64_t{0});
  preference.set<std::uint32_t>(CUBLASLT_MATMUL_PREF_SEARCH_MODE, CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID);
  EXPECT_EQ(ask(), kInvalid);  // of which algorithm?
  DONE(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 0,
                              &result.algo));
  DONE(ask());
}

TEST_F(BlasLtCalls, CapabilitiesAndConfiguration) {
  cublasLtMatmulAlgo_t algorithm;
  DONE(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, 0,
                              &algorithm));
  const auto cap = cublasLtMatmulAlgoCapGetAttribute;
  const cublasLtMatmulAlgo_t* const at = &algorithm;
  for (int name = 0; name <= 22; ++name) {
    if (name == 8 || name == 9 || name == 20) {
      EXPECT_EQ(cap(at, static_cast<cublasLtMatmulAlgoCapAttributes_t>(name), nullptr, 0, nullptr), kInvalid);
      continue;
    }
    std::size_t bytes = 0;
    DONE(cap(at, static_cast<cublasLtMatmulAlgoCapAttributes_t>(name), nullptr, 0, &bytes)) << name;
    EXPECT_EQ(bytes, name == CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS ? 8u : 4u) << name;
    EXPECT_EQ(cap(nullptr, static_cast<cublasLtMatmulAlgoCapAttributes_t>(name), nullptr, 0, &bytes), kInvalid);
  }
  EXPECT_EQ(value_of<std::int32_t>(at, cap, CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT), 1);
  EXPECT_EQ(value_of<std::int32_t>(at, cap, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT), 0);
  EXPECT_EQ(value_of<std::uint32_t>(at, cap, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES), 2u);
  EXPECT_EQ(value_of<std::uint32_t>(at, cap, CUBLASLT_ALGO_CAP_EPILOGUE_MASK) & CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
            CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  EXPECT_EQ(value_of<std::uint64_t>(at, cap, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS),
            CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
                CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F);
  const auto get = cublasLtMatmulAlgoConfigGetAttribute;
  EXPECT_EQ(value_of<std::int32_t>(at, get, CUBLASLT_ALGO_CONFIG_ID), 0);
  EXPECT_EQ(value_of<std::int32_t>(at, get, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), 1);
  const std::uint16_t cluster = CUBLASLT_CLUSTER_SHAPE_2x1x1;
  DONE(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, &cluster, 2));
  EXPECT_EQ(value_of<std::uint16_t>(at, get, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID), cluster);
  const std::int32_t id = 3;
  EXPECT_EQ(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, 4), kInvalid);
  EXPECT_EQ(cublasLtMatmulAlgoConfigSetAttribute(nullptr, CUBLASLT_ALGO_CONFIG_TILE_ID, &id, 4), kInvalid);
  EXPECT_EQ(get(nullptr, CUBLASLT_ALGO_CONFIG_TILE_ID, nullptr, 0, nullptr), kInvalid);
}

TEST_F(BlasLtCalls, QuestionsWithWrongArguments) {
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, 4, 4, 1, 1);
  const Description desc(kFloat);
  const Preference preference;
  cublasLtMatmulHeuristicResult_t result = {};
  int count = 0, id = 0;
  cublasLtMatmulAlgo_t algorithm;
  constexpr auto kF = CUDA_R_32F;
  const auto ask = [&](cublasLtHandle_t h, cublasLtMatmulDesc_t d, cublasLtMatrixLayout_t l,
                       cublasLtMatmulPreference_t p, int requested, cublasLtMatmulHeuristicResult_t* r, int* n) {
    return cublasLtMatmulAlgoGetHeuristic(h, d, l, a.layout, a.layout, a.layout, p, requested, r, n);
  };
  EXPECT_EQ(ask(nullptr, desc.handle, a.layout, preference.handle, 1, &result, &count), kNone);
  EXPECT_EQ(ask(handle, nullptr, a.layout, preference.handle, 1, &result, &count), kInvalid);
  EXPECT_EQ(ask(handle, desc.handle, nullptr, preference.handle, 1, &result, &count), kInvalid);
  EXPECT_EQ(ask(handle, desc.handle, a.layout, nullptr, 1, &result, &count), kInvalid);
  EXPECT_EQ(ask(handle, desc.handle, a.layout, preference.handle, 0, &result, &count), kInvalid);
  EXPECT_EQ(ask(handle, desc.handle, a.layout, preference.handle, 1, nullptr, &count), kInvalid);
  EXPECT_EQ(ask(handle, desc.handle, a.layout, preference.handle, 1, &result, nullptr), kInvalid);
  const auto ids = [&](cublasLtHandle_t h, cudaDataType b, int requested, int* out, int* n) {
    return cublasLtMatmulAlgoGetIds(h, CUBLAS_COMPUTE_32F, kF, kF, b, kF, kF, requested, out, n);
  };
  EXPECT_EQ(ids(nullptr, kF, 1, &id, &count), kNone);
  EXPECT_EQ(ids(handle, kF, 0, &id, &count), kInvalid);
  EXPECT_EQ(ids(handle, kF, 1, nullptr, &count), kInvalid);
  EXPECT_EQ(ids(handle, kF, 1, &id, nullptr), kInvalid);
  EXPECT_EQ(ids(handle, CUDA_R_64F, 1, &id, &count), CUBLAS_STATUS_NOT_SUPPORTED);
  const auto init = [&](cublasLtHandle_t h, cudaDataType b, int which, cublasLtMatmulAlgo_t* out) {
    return cublasLtMatmulAlgoInit(h, CUBLAS_COMPUTE_32F, kF, kF, b, kF, kF, which, out);
  };
  EXPECT_EQ(init(nullptr, kF, 0, &algorithm), kNone);
  EXPECT_EQ(init(handle, kF, -1, &algorithm), kInvalid);
  EXPECT_EQ(init(handle, kF, 0, nullptr), kInvalid);
  EXPECT_EQ(init(handle, CUDA_R_64F, 0, &algorithm), CUBLAS_STATUS_NOT_SUPPORTED);
  DONE(init(handle, kF, 0, &algorithm));
  const auto check = [&](cublasLtHandle_t h, cublasLtMatmulDesc_t d, const cublasLtMatmulAlgo_t* with,
                         cublasLtMatmulHeuristicResult_t* r) {
    return cublasLtMatmulAlgoCheck(h, d, a.layout, a.layout, a.layout, a.layout, with, r);
  };
  EXPECT_EQ(check(nullptr, desc.handle, &algorithm, &result), kNone);
  EXPECT_EQ(check(handle, nullptr, &algorithm, &result), kInvalid);
  EXPECT_EQ(check(handle, desc.handle, nullptr, &result), kInvalid);
  EXPECT_EQ(check(handle, desc.handle, &algorithm, nullptr), kInvalid);
}

TEST_F(BlasLtCalls, ProductsWithWrongArguments) {
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, 4, 4, 1, 1), wide(CUDA_R_32F, CUBLASLT_ORDER_COL, 4, 5, 1, 2);
  const Matrix doubles(CUDA_R_64F, CUBLASLT_ORDER_COL, 4, 4, 1, 3), two(CUDA_R_32F, CUBLASLT_ORDER_COL, 4, 4, 2, 4);
  const Matrix tiles(CUDA_R_32F, CUBLASLT_ORDER_COL32, 4, 4, 1, 5);
  const float one = 1;
  struct Call {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    const void *alpha, *at_a;
    cublasLtMatrixLayout_t a, b, c;
    const void* beta;
    void* at_d;
    cublasLtMatrixLayout_t d;
    void* workspace = nullptr;
    std::size_t workspace_bytes = 0;
  };
  const auto run = [&](const Call& x) {
    return cublasLtMatmul(x.handle, x.desc, x.alpha, x.at_a, x.a, a.data(), x.b, x.beta, a.data(), x.c, x.at_d, x.d,
                          nullptr, x.workspace, x.workspace_bytes, nullptr);
  };
  const Description desc(kFloat);
  const Call right{handle, desc.handle, &one, a.data(), a.layout, a.layout, a.layout, &one, a.data(), a.layout};
  const auto with = [&](auto change) {
    Call x = right;
    change(x);
    return run(x);
  };
  DONE(run(right));
  EXPECT_EQ(with([](Call& x) { x.handle = nullptr; }), kNone);
  EXPECT_EQ(with([](Call& x) { x.desc = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.alpha = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.beta = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.at_a = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.at_d = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.a = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.b = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.c = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.d = nullptr; }), kInvalid);
  EXPECT_EQ(with([](Call& x) { x.workspace_bytes = 16; }), kInvalid);
  EXPECT_EQ(with([&](Call& x) { x.a = wide.layout; }), kInvalid);
  EXPECT_EQ(with([&](Call& x) { x.b = wide.layout; }), kInvalid);
  EXPECT_EQ(with([&](Call& x) { x.c = wide.layout; }), kInvalid);
  EXPECT_EQ(with([&](Call& x) { x.c = two.layout; }), kInvalid);
  EXPECT_EQ(with([&](Call& x) { x.a = doubles.layout; }), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(with([&](Call& x) { x.c = doubles.layout; }), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(with([&](Call& x) { x.b = tiles.layout; }), CUBLAS_STATUS_NOT_SUPPORTED);
  const auto with_attribute = [&](cublasLtMatmulDescAttributes_t name, auto value) {
    const Description changed(kFloat);
    changed.set(name, value);
    return with([&](Call& x) { x.desc = changed.handle; });
  };
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_TRANSA, std::int32_t{9}), kInvalid);
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_TRANSC, std::int32_t{CUBLAS_OP_T}), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_FILL_MODE, std::int32_t{CUBLAS_FILL_MODE_LOWER}),
            CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_POINTER_MODE, std::int32_t{5}), kInvalid);
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_SCALE_TYPE, std::int32_t{CUDA_R_64F}), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{3}), kInvalid);
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_BIAS}), kInvalid);  // none
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_RELU_AUX}), kInvalid);
  EXPECT_EQ(with_attribute(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(a.data())), kInvalid);
  const auto with_layout = [&](cublasLtMatrixLayoutAttribute_t name, auto value) {
    const Matrix changed(CUDA_R_32F, CUBLASLT_ORDER_COL, 4, 4, 1, 1);
    changed.set(name, value);
    return with([&](Call& x) { x.a = changed.layout; });
  };
  EXPECT_EQ(with_layout(CUBLASLT_MATRIX_LAYOUT_ORDER, std::int32_t{9}), kInvalid);
  EXPECT_EQ(with_layout(CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{3}), kInvalid);
  EXPECT_EQ(with_layout(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{-1}), kInvalid);
  EXPECT_EQ(with_layout(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, std::int32_t{2}), kInvalid);
  EXPECT_EQ(with_layout(CUBLASLT_MATRIX_LAYOUT_TYPE, std::uint32_t{CUDA_R_8F_E4M3}), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(with_layout(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, std::int64_t{64}), CUBLAS_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(BlasLtCalls, TransformationsWithWrongArguments) {
  const Matrix a(CUDA_R_32F, CUBLASLT_ORDER_COL, 4, 4, 1, 1), wide(CUDA_R_32F, CUBLASLT_ORDER_COL, 4, 5, 1, 2);
  cublasLtMatrixTransformDescOpaque_t desc;
  DONE(cublasLtMatrixTransformDescInit(&desc, CUDA_R_32F));
  const float one = 1;
  const auto run = [&](cublasLtHandle_t h, cublasLtMatrixTransformDesc_t d, const void* alpha,
                       cublasLtMatrixLayout_t from, void* to, cublasLtMatrixLayout_t c) {
    return cublasLtMatrixTransform(h, d, alpha, a.data(), from, &one, nullptr, nullptr, to, c, nullptr);
  };
  DONE(run(handle, &desc, &one, a.layout, a.data(), a.layout));
  EXPECT_EQ(run(nullptr, &desc, &one, a.layout, a.data(), a.layout), kNone);
  EXPECT_EQ(run(handle, nullptr, &one, a.layout, a.data(), a.layout), kInvalid);
  EXPECT_EQ(run(handle, &desc, nullptr, a.layout, a.data(), a.layout), kInvalid);
  EXPECT_EQ(run(handle, &desc, &one, nullptr, a.data(), a.layout), kInvalid);
  EXPECT_EQ(run(handle, &desc, &one, a.layout, nullptr, a.layout), kInvalid);
  EXPECT_EQ(run(handle, &desc, &one, a.layout, a.data(), nullptr), kInvalid);
  EXPECT_EQ(run(handle, &desc, &one, wide.layout, a.data(), a.layout), kInvalid);
  DONE(cublasLtMatrixTransformDescInit(&desc, CUDA_C_32F));
  EXPECT_EQ(run(handle, &desc, &one, a.layout, a.data(), a.layout), CUBLAS_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// What no kernel could reach ends the call, as a fault of a kernel does, and never the process.
TEST(BlasLtFaults, WrongPointers) {
  cublasLtHandle_t handle = nullptr;
  DONE(cublasLtCreate(&handle));
  cublasLtMatrixLayoutOpaque_t layout;
  DONE(cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 4, 4, 4));
  const Description desc(kFloat);
  const float one = 1, zero = 0;
  std::vector<float> host(16, 1.0f);
  for (const bool wrong_d : {false, true}) {
    const Array<float> device(16);
    void* const d = wrong_d ? host.data() : device.data();
    const void* const a = wrong_d ? device.data() : host.data();
    DONE(cublasLtMatmul(handle, desc.handle, &one, a, &layout, device.data(), &layout, &zero, d, &layout, d, &layout,
                        nullptr, nullptr, 0, nullptr));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(cublasLtMatmul(handle, desc.handle, &one, a, &layout, a, &layout, &zero, d, &layout, d, &layout, nullptr,
                             nullptr, 0, nullptr),
              CUBLAS_STATUS_EXECUTION_FAILED);
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  }
  DONE(cublasLtDestroy(handle));
}

}  // namespace
}  // namespace warpgrind::test
