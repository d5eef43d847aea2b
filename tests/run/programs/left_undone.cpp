// Leaves something undone without a word: left_undone count|load|errors|library|run ...
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <string_view>

namespace {

// Two kernels, of which none or one is launched.
constexpr const char* kCode =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry first() { ret; }\n"
    ".visible .entry second() { ret; }\n";

CUmodule load() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  if (cuModuleLoadData(&module, kCode) != CUDA_SUCCESS) std::printf("the module was refused\n");
  return module;
}

void run_first(CUmodule module) {
  CUfunction first = nullptr;
  if (cuModuleGetFunction(&first, module, "first") != CUDA_SUCCESS) return;
  if (cuLaunchKernel(first, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) != CUDA_SUCCESS) return;
  if (cuCtxSynchronize() == CUDA_SUCCESS) std::printf("ran\n");
}

// The program reads both errors and goes on.
void read_errors(CUmodule module) {
  CUfunction none = nullptr;
  for (int i = 0; i < 2; ++i)
    if (cuModuleGetFunction(&none, module, "third") != CUDA_SUCCESS) std::puts("on the host, then");
}

}  // namespace

int main(int count, char** words) {
  cuInit(0);
  CUmodule module = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    int devices = 0;
    if (word == "count" && cuDeviceGetCount(&devices) == CUDA_SUCCESS) std::printf("%d\n", devices);
    if (word != "count" && word != "library" && !module) module = load();
    if (word == "run") run_first(module);
    if (word == "errors") read_errors(module);
    if (word == "library" && !dlopen("libcudnn.so.99", RTLD_NOW)) std::puts("no cuDNN");
  }
  return 0;
}
