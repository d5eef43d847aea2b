// Modules: loading, functions, variables.
#include <cstdio>
#include <cstring>
#include <fstream>

#include "code.h"

namespace warpgrind::driver::test {

using Modules = WithModule;

TEST_F(Modules, FromPtx) {
  EXPECT_EQ(after_add(function("add_step")), 3u);
  EXPECT_EQ(function("add_step"), function("add_step"));
  CUdeviceptr step = 0;
  std::size_t bytes = 0;
  OK(cuModuleGetGlobal(&step, &bytes, module, "step"));
  EXPECT_EQ(bytes, 4u);
  const unsigned five = 5;
  OK(cuMemcpyHtoD(step, &five, sizeof five));
  EXPECT_EQ(after_add(function("add_step")), 5u);
}

// Constant memory also has a global memory address (hashcat uses it to clear its tables).
TEST_F(Modules, ConstantsAreWrittenByTheirAddress) {
  CUdeviceptr table = 0;
  OK(cuModuleGetGlobal(&table, nullptr, module, "table"));
  void* parameters[] = {&table};
  OK(cuLaunchKernel(function("add_step"), 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr));
  OK(cuCtxSynchronize());
  unsigned values[4] = {};
  OK(cuMemcpyDtoH(values, table, sizeof values));
  EXPECT_EQ(values[3], 7u);
}

TEST_F(Modules, Lists) {
  unsigned count = 0;
  OK(cuModuleGetFunctionCount(&count, module));
  ASSERT_EQ(count, 4u);
  CUfunction all[4] = {};
  OK(cuModuleEnumerateFunctions(all, 4, module));
  EXPECT_EQ(all[0], function("add_step"));
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  OK(cuModuleGetLoadingMode(&mode));
  EXPECT_EQ(mode, CU_MODULE_LAZY_LOADING);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleGetLoadingMode(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunctionCount(nullptr, module));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleEnumerateFunctions(all, 4, nullptr));
}

TEST_F(Modules, NotFound) {
  CUfunction function = nullptr;
  CUdeviceptr pointer = 0;
  std::size_t bytes = 0;
  FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "none"));
  FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "step"));
  FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&pointer, &bytes, module, "none"));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(&function, module, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, nullptr, "add_step"));
}

// Two modules of one image have separate variables, and an unloaded module is invalid.
TEST_F(Modules, EachIsItsOwn) {
  CUmodule other = nullptr;
  OK(cuModuleLoadDataEx(&other, kCode, 0, nullptr, nullptr));
  CUdeviceptr here = 0, there = 0;
  OK(cuModuleGetGlobal(&here, nullptr, module, "step"));
  OK(cuModuleGetGlobal(&there, nullptr, other, "step"));
  EXPECT_NE(here, there);
  CUfunction gone = nullptr;
  OK(cuModuleGetFunction(&gone, other, "bounded"));
  OK(cuModuleUnload(other));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(other));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(gone, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(after_add(function("add_step")), 3u);
}

TEST_F(Modules, FromFiles) {
  const std::string path = testing::TempDir() + "driver_modules.ptx";
  std::ofstream(path) << kCode;
  CUmodule loaded = nullptr;
  OK(cuModuleLoad(&loaded, path.c_str()));
  CUfunction add_step = nullptr;
  OK(cuModuleGetFunction(&add_step, loaded, "add_step"));
  EXPECT_EQ(after_add(add_step), 3u);
  OK(cuModuleUnload(loaded));
  std::remove(path.c_str());
  FAILS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&loaded, path.c_str()));
}

// The program's buffer, whose size is an option, receives the error text.
TEST_F(Modules, BrokenCode) {
  char log[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule none = nullptr;
  const char* wrong = ".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry k() { mov.u32 %rx, 1; ret; }\n";
  FAILS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&none, wrong, 2, options, values));
  EXPECT_NE(std::string(log).find("%rx"), std::string::npos) << log;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log));
  char small[8] = "";
  values[0] = small, values[1] = reinterpret_cast<void*>(sizeof small);
  FAILS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&none, wrong, 2, options, values));
  EXPECT_EQ(std::strlen(small), 7u);
  FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&none, "no code at all"));
  FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadFatBinary(&none, ""));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&none, nullptr));
}

}  // namespace warpgrind::driver::test
