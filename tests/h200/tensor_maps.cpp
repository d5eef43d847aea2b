// A GPU's answers to the calls of tensor_map_calls.txt (tensor_map_calls.py writes them): prints each line with its
// answer, ready for tests/data/h200/tensor_maps.txt. Only for a machine with NVIDIA's driver:
//
//   g++ -std=c++20 -O1 tensor_maps.cpp -I/usr/local/cuda/include -ldl -o tensor_maps
//   ./tensor_maps tensor_map_calls.txt [BYTES] >answers
//
// BYTES gets the 128 bytes of each map, which show what the driver makes of the arguments.
#include <dlfcn.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "../driver/tensor_map_calls.h"

namespace {

using namespace tensor_map_calls;

void* libcuda = nullptr;

template <class Function>
Function find(const char* name) {
  void* found = dlsym(libcuda, name);
  if (!found) std::fprintf(stderr, "no symbol %s\n", name);
  return reinterpret_cast<Function>(found);
}
#define FIND(name, symbol) decltype(&::name) name = find<decltype(&::name)>(#symbol)

struct Driver {
  FIND(cuInit, cuInit);
  FIND(cuDriverGetVersion, cuDriverGetVersion);
  FIND(cuDeviceGetName, cuDeviceGetName);
  FIND(cuDeviceGetAttribute, cuDeviceGetAttribute);
  FIND(cuCtxCreate, cuCtxCreate_v4);
  FIND(cuCtxDestroy, cuCtxDestroy_v2);
  FIND(cuCtxSetCurrent, cuCtxSetCurrent);
  FIND(cuMemAlloc, cuMemAlloc_v2);
  FIND(cuGetErrorName, cuGetErrorName);
  FIND(cuGetProcAddress, cuGetProcAddress_v2);
  Functions maps{find<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled"),
                 find<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col"),
                 find<decltype(&cuTensorMapEncodeIm2colWide)>("cuTensorMapEncodeIm2colWide"),
                 find<decltype(&cuTensorMapReplaceAddress)>("cuTensorMapReplaceAddress")};
};

void print_addresses(const Driver& driver) {
  const char* names[] = {"cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col", "cuTensorMapEncodeIm2colWide",
                         "cuTensorMapReplaceAddress"};
  for (const char* name : names)
    for (const int version : {11080, 12000, 12030, 12070, 12080, 12090, 13000}) {
      void* function = nullptr;
      CUdriverProcAddressQueryResult status{};
      const CUresult error = driver.cuGetProcAddress(name, &function, version, 0, &status);
      std::printf("# %s %d: error %d, status %d, %s\n", name, version, error, status,
                  !function                          ? "null"
                  : function == dlsym(libcuda, name) ? "the symbol"
                                                     : "another function");
    }
}

std::string short_name(const Driver& driver, CUresult error) {
  const char* name = nullptr;
  driver.cuGetErrorName(error, &name);
  if (!name) return std::to_string(error);
  return std::strncmp(name, "CUDA_", 5) == 0 ? name + 5 : name;
}

// A call that crashes is an answer, too.
sigjmp_buf after_crash;
void leave_call(int) {
  siglongjmp(after_crash, 1);
}

void print_answer(const Driver& driver, const std::string& line, CUdeviceptr allocation, std::FILE* bytes) {
  if (sigsetjmp(after_crash, 1)) {
    std::printf("%s -> CRASH\n", line.c_str());
    return;
  }
  const Answer answer = Call(line, allocation).run(driver.maps);
  std::printf("%s -> %s%s\n", line.c_str(), short_name(driver, answer.error).c_str(),
              answer.error != CUDA_SUCCESS && answer.changed ? " changed" : "");
  if (!bytes) return;
  std::fprintf(bytes, "%s\n", line.c_str());
  for (const unsigned char byte : answer.bytes) std::fprintf(bytes, "%02x", byte);
  std::fprintf(bytes, "\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  libcuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (!libcuda) return 1;
  const Driver driver;
  std::signal(SIGSEGV, leave_call);
  std::ifstream calls(arguments[1]);
  std::FILE* bytes = count > 2 ? std::fopen(arguments[2], "w") : nullptr;
  CUdeviceptr allocation = 1 << 20;
  CUcontext context = nullptr;
  for (std::string line; std::getline(calls, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line == "@no_context") driver.cuInit(0);
    if (line == "@context") {
      int version = 0, supported = -1;
      char name[64] = "";
      driver.cuDriverGetVersion(&version);
      driver.cuDeviceGetName(name, sizeof name, 0);
      driver.cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0);
      std::printf("# %s, driver %d, tensor maps %d\n", name, version, supported);
      print_addresses(driver);
      driver.cuCtxCreate(&context, nullptr, 0, 0);
      const CUresult error = driver.cuMemAlloc(&allocation, 1 << 20);
      std::printf("# allocation 0x%llx, error %d\n", allocation, error);
    }
    if (line == "@destroyed_context") {
      driver.cuCtxDestroy(context);
    }
    if (line[0] == '@') {
      std::printf("%s\n", line.c_str());
      continue;
    }
    print_answer(driver, line, allocation, bytes);
  }
  return 0;
}
