// Libraries and their kernels.
#include <cstdio>
#include <fstream>

#include "code.h"

namespace warpgrind::driver::test {

class Libraries : public WithModule {
 protected:
  Libraries() { OK(cuLibraryLoadData(&library, kCode, nullptr, nullptr, 0, nullptr, nullptr, 0)); }
  ~Libraries() override { OK(cuLibraryUnload(library)); }
  CUkernel kernel(const char* name) const {
    CUkernel out = nullptr;
    OK(cuLibraryGetKernel(&out, library, name));
    return out;
  }
  CUlibrary library = nullptr;
};

TEST_F(Libraries, Kernels) {
  CUkernel add_step = kernel("add_step");
  CUfunction function = nullptr;
  OK(cuKernelGetFunction(&function, add_step));
  EXPECT_EQ(after_add(function), 3u);
  EXPECT_EQ(after_add(reinterpret_cast<CUfunction>(add_step)), 3u);  // cuLaunchKernel accepts a CUkernel too
  unsigned count = 0;
  OK(cuLibraryGetKernelCount(&count, library));
  ASSERT_EQ(count, 4u);
  CUkernel all[4] = {};
  OK(cuLibraryEnumerateKernels(all, 4, library));
  EXPECT_EQ(all[0], add_step);
  CUlibrary owner = nullptr;
  OK(cuKernelGetLibrary(&owner, add_step));
  EXPECT_EQ(owner, library);
  FAILS(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&add_step, library, "none"));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernel(&add_step, nullptr, "add_step"));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLibraryGetKernelCount(nullptr, library));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLibraryEnumerateKernels(nullptr, 4, library));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuKernelGetFunction(&function, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuKernelGetLibrary(&owner, nullptr));
}

TEST_F(Libraries, Variables) {
  CUdeviceptr pointer = 0;
  std::size_t bytes = 0;
  OK(cuLibraryGetGlobal(&pointer, &bytes, library, "step"));
  EXPECT_EQ(bytes, 4u);
  unsigned value = 0;
  OK(cuMemcpyDtoH(&value, pointer, sizeof value));
  EXPECT_EQ(value, 3u);
  FAILS(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&pointer, &bytes, library, "step"));
  OK(cuLibraryGetManaged(&pointer, &bytes, library, "managed"));
  OK(cuMemcpyDtoH(&value, pointer, sizeof value));
  EXPECT_EQ(value, 7u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLibraryGetGlobal(&pointer, &bytes, library, "sum"));
  FAILS(CUDA_ERROR_NOT_FOUND, cuLibraryGetGlobal(&pointer, &bytes, library, "none"));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetManaged(&pointer, &bytes, nullptr, "step"));
}

TEST_F(Libraries, AsModules) {
  CUmodule as_module = nullptr;
  OK(cuLibraryGetModule(&as_module, library));
  CUfunction function = nullptr;
  OK(cuModuleGetFunction(&function, as_module, "add_step"));
  EXPECT_EQ(after_add(function), 3u);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetModule(&as_module, nullptr));
}

TEST_F(Libraries, Attributes) {
  CUkernel bounded = kernel("bounded");
  int value = 0;
  OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded, 0));
  EXPECT_EQ(value, 64);
  OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, bounded, 0));
  OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bounded, 0));
  EXPECT_EQ(value, 65536);
  OK(cuKernelSetCacheConfig(bounded, CU_FUNC_CACHE_PREFER_L1, 0));
  const char* name = nullptr;
  OK(cuKernelGetName(&name, bounded));
  EXPECT_STREQ(name, "bounded");
  std::size_t offset = 0, size = 0;
  OK(cuKernelGetParamInfo(kernel("sum"), 3, &offset, &size));
  EXPECT_EQ(offset, 16u);
  EXPECT_EQ(size, 8u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamInfo(kernel("sum"), 4, &offset, &size));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, bounded, kDevices));
  FAILS(CUDA_ERROR_INVALID_DEVICE,
        cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0, bounded, -1));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuKernelSetCacheConfig(bounded, CU_FUNC_CACHE_PREFER_L1, kDevices));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuKernelGetName(&name, nullptr));
}

TEST_F(Libraries, FromFiles) {
  const std::string path = testing::TempDir() + "driver_libraries.ptx";
  std::ofstream(path) << kCode;
  CUlibrary loaded = nullptr;
  OK(cuLibraryLoadFromFile(&loaded, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cuLibraryUnload(loaded));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(loaded));
  std::remove(path.c_str());
  FAILS(CUDA_ERROR_FILE_NOT_FOUND,
        cuLibraryLoadFromFile(&loaded, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_IMAGE, cuLibraryLoadData(&loaded, "none", nullptr, nullptr, 0, nullptr, nullptr, 0));
}

}  // namespace warpgrind::driver::test
