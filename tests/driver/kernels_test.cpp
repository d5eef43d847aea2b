// Functions: attributes, names, parameters.
#include "code.h"

namespace warpgrind::driver::test {

using Kernels = WithModule;

TEST_F(Kernels, Attributes) {
  CUfunction bounded = function("bounded"), sum = function("sum");
  const auto attribute = [](CUfunction f, CUfunction_attribute which) {
    int value = -1;
    OK(cuFuncGetAttribute(&value, which, f));
    return value;
  };
  EXPECT_EQ(attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
  EXPECT_EQ(attribute(sum, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(sum, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
  EXPECT_EQ(attribute(sum, CU_FUNC_ATTRIBUTE_PTX_VERSION), 50);
  EXPECT_EQ(attribute(sum, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);  // the H200's
  EXPECT_GT(attribute(sum, CU_FUNC_ATTRIBUTE_NUM_REGS), 0);
  for (int which = 0; which < CU_FUNC_ATTRIBUTE_MAX; ++which) attribute(sum, static_cast<CUfunction_attribute>(which));
  OK(cuFuncSetAttribute(sum, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  EXPECT_EQ(attribute(sum, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 100000);
  int value = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, sum));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(sum, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(sum, CU_FUNC_ATTRIBUTE_NUM_REGS, 8));
}

TEST_F(Kernels, Configurations) {
  CUfunction sum = function("sum");
  OK(cuFuncSetCacheConfig(sum, CU_FUNC_CACHE_PREFER_SHARED));
  OK(cuFuncSetSharedMemConfig(sum, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetCacheConfig(sum, static_cast<CUfunc_cache>(9)));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetSharedMemConfig(sum, static_cast<CUsharedconfig>(9)));
}

TEST_F(Kernels, NamesAndParameters) {
  CUfunction sum = function("sum");
  const char* name = nullptr;
  OK(cuFuncGetName(&name, sum));
  EXPECT_STREQ(name, "sum");
  CUmodule owner = nullptr;
  OK(cuFuncGetModule(&owner, sum));
  EXPECT_EQ(owner, module);
  constexpr std::size_t kLayout[][2] = {{0, 8}, {8, 4}, {12, 1}, {16, 8}};
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t offset = 0, size = 0;
    OK(cuFuncGetParamInfo(sum, i, &offset, &size));
    EXPECT_EQ(offset, kLayout[i][0]);
    EXPECT_EQ(size, kLayout[i][1]);
  }
  std::size_t offset = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(sum, 4, &offset, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetName(&name, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetModule(nullptr, sum));
}

TEST_F(Kernels, Loading) {
  CUfunction bounded = function("bounded");
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_LOADED;
  OK(cuFuncIsLoaded(&state, bounded));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_UNLOADED);
  OK(cuFuncLoad(bounded));
  OK(cuFuncIsLoaded(&state, bounded));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncIsLoaded(nullptr, bounded));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuFuncLoad(nullptr));
}

}  // namespace warpgrind::driver::test
