// Makes tensor maps: one call for each argument (tests/driver/tensor_map_calls.h has the form), and prints its error.
#include <cstdio>

#include "../../driver/tensor_map_calls.h"

int main(int count, char** arguments) {
  const tensor_map_calls::Functions functions{cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col,
                                              cuTensorMapEncodeIm2colWide, cuTensorMapReplaceAddress};
  CUcontext context = nullptr;
  CUdeviceptr allocation = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate(&context, nullptr, 0, 0) != CUDA_SUCCESS ||
      cuMemAlloc(&allocation, 1 << 20) != CUDA_SUCCESS)
    return 1;
  for (int i = 1; i < count; i++) {
    const char* name = nullptr;
    cuGetErrorName(tensor_map_calls::Call(arguments[i], allocation).run(functions).error, &name);
    std::printf("%s -> %s\n", arguments[i], name);
  }
}
