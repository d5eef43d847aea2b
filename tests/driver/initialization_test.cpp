// Initialization, versions, error texts, addresses of functions.
#include <dlfcn.h>

#include "driver_test.h"

namespace warpgrind::driver {

TEST(Initialization, ComesFirst) {
  int count = -1, version = 0;
  CUcontext context = nullptr;
  FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  FAILS(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
  FAILS(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
  // Errors that do not depend on initialization are still reported.
  CUstream stream = nullptr;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxDestroy(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 2));
  FAILS(CUDA_ERROR_NOT_INITIALIZED, cuStreamCreate(&stream, 1));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetName(nullptr, nullptr));
  FAILS(CUDA_ERROR_NOT_INITIALIZED, cuModuleUnload(nullptr));
  OK(cuDriverGetVersion(&version));
  EXPECT_EQ(version, CUDA_VERSION);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDriverGetVersion(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  OK(cuInit(0));
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  EXPECT_EQ(count, test::kDevices);
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
}

TEST(Errors, HaveNamesAndTexts) {
  const char* text = nullptr;
  OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  OK(cuGetErrorString(CUDA_ERROR_NOT_FOUND, &text));
  EXPECT_STREQ(text, "named symbol not found");
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(123456), &text));
  EXPECT_EQ(text, nullptr);
  text = "";
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorString(static_cast<CUresult>(123456), &text));
  EXPECT_EQ(text, nullptr);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(CUDA_SUCCESS, nullptr));
}

namespace {

void* symbol(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  EXPECT_NE(library, nullptr) << ::dlerror();
  return ::dlsym(library, name);
}

// Identifies a function by its result: both count devices. So addresses need not be equal.
int count_by(void* function) {
  int count = -1;
  OK(reinterpret_cast<CUresult (*)(int*)>(function)(&count));
  return count;
}

}  // namespace

TEST(EntryPoints, AreFoundByVersion) {
  OK(cuInit(0));
  void *function = nullptr, *other = nullptr;
  CUdriverProcAddressQueryResult status{};
  OK(cuGetProcAddress_v2("cuDeviceGetCount", &function, 2000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(count_by(function), test::kDevices);
  EXPECT_EQ(count_by(symbol("cuDeviceGetCount")), test::kDevices);

  // cuCtxCreate has four versions. CUDA 11.3 gets one with three parameters.
  OK(cuGetProcAddress_v2("cuCtxCreate", &function, 11030, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  CUcontext context = nullptr;
  OK(reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(function)(&context, 0, 1));
  OK(cuGetProcAddress_v2("cuCtxCreate", &other, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  EXPECT_NE(function, other);
  OK(reinterpret_cast<CUresult (*)(CUcontext*, CUctxCreateParams*, unsigned, CUdevice)>(other)(&context, nullptr, 0,
                                                                                               1));
  OK(cuGetProcAddress_v2("cuCtxCreate", &function, 12050, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  EXPECT_EQ(function, other);

  OK(cuGetProcAddress_v2("cuCtxGetId", &function, 11080, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  OK(cuGetProcAddress_v2("cuMakeCoffee", &function, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress_v2("cuInit", &function, CUDA_VERSION + 10, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress_v2(nullptr, &function, CUDA_VERSION, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress_v2("cuInit", nullptr, CUDA_VERSION, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress_v2("cuInit", &function, CUDA_VERSION, 64, nullptr));
}

TEST(EntryPoints, HaveTwinsWithStreamsOfTheirOwn) {
  void *plain = nullptr, *own = nullptr, *legacy = nullptr;
  OK(cuGetProcAddress_v2("cuStreamSynchronize", &plain, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  OK(cuGetProcAddress_v2("cuStreamSynchronize", &legacy, CUDA_VERSION, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr));
  OK(cuGetProcAddress_v2("cuStreamSynchronize", &own, CUDA_VERSION, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                         nullptr));
  EXPECT_EQ(plain, legacy);
  EXPECT_NE(plain, own);
  OK(cuGetProcAddress_v2("cuInit", &plain, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  OK(cuGetProcAddress_v2("cuInit", &own, CUDA_VERSION, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr));
  EXPECT_EQ(plain, own);
}

// The first version, which programs of CUDA 11 link.
#undef cuGetProcAddress
TEST(EntryPoints, OfCuda11) {
  void* function = nullptr;
  OK(cuGetProcAddress("cuInit", &function, 11030, CU_GET_PROC_ADDRESS_DEFAULT));
  EXPECT_NE(function, nullptr);
  FAILS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuMakeCoffee", &function, 11030, CU_GET_PROC_ADDRESS_DEFAULT));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", nullptr, 11030, CU_GET_PROC_ADDRESS_DEFAULT));
}

TEST(EntryPoints, UndocumentedTablesAreNotExported) {
  OK(cuInit(0));
  const void* table = &table;
  const CUuuid id{};
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGetExportTable(&table, &id));
  EXPECT_EQ(table, nullptr);
}

}  // namespace warpgrind::driver
