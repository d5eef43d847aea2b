// A client that compiles at run time by calling nvcc, and loads the result.
//   calls_nvcc FOLDER ARGUMENTS...   the arguments are nvcc's, without files
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  const std::string folder = argv[1], source = folder + "/triple.cu", image = folder + "/image";
  std::ofstream(source) << "extern \"C\" __global__ void triple(int* p) { *p *= 3; }\n";
  std::string command = "nvcc";
  for (int i = 2; i < argc; i++) command += std::string(" '") + argv[i] + "'";
  const int ended = std::system((command + " -o " + image + " " + source).c_str());
  if (ended != 0) return std::printf("nvcc ended with %d\n", ended), 1;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction triple = nullptr;
  CUdeviceptr p = 0;
  int value = 14;
  const auto ok = [](const char* what, CUresult error) {
    const char* name = "";
    if (error != CUDA_SUCCESS) cuGetErrorName(error, &name), std::printf("%s: %s\n", what, name), std::exit(1);
  };
  ok("init", cuInit(0));
  ok("device", cuDeviceGet(&device, 0));
  ok("context", cuDevicePrimaryCtxRetain(&context, device));
  ok("current", cuCtxSetCurrent(context));
  ok("load", cuModuleLoad(&module, image.c_str()));
  ok("function", cuModuleGetFunction(&triple, module, "triple"));
  ok("memory", cuMemAlloc(&p, sizeof value));
  ok("copy", cuMemcpyHtoD(p, &value, sizeof value));
  void* arguments[] = {&p};
  ok("launch", cuLaunchKernel(triple, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  ok("copy back", cuMemcpyDtoH(&value, p, sizeof value));
  std::printf("three times 14: %d\n", value);
  return 0;
}
