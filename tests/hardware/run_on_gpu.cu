// Runs the cases of generate.py on a real GPU and writes expected.txt:
//   python3 generate.py FOLDER
//   nvcc -std=c++17 -o run_on_gpu run_on_gpu.cu && ./run_on_gpu FOLDER > expected.txt
#include <cstdio>
#include <map>

#include "inputs.h"

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::map<std::string, cudaLibrary_t> libraries;
  for (const hardware::Case& c : hardware::read_cases(folder + "/cases.txt")) {
    if (!libraries.count(c.file)) {
      const cudaError_t e = cudaLibraryLoadFromFile(&libraries[c.file], (folder + "/" + c.file).c_str(), nullptr,
                                                    nullptr, 0, nullptr, nullptr, 0);
      if (e != cudaSuccess) return std::printf("%s: %s\n", c.file.c_str(), cudaGetErrorString(e)), 1;
    }
    cudaKernel_t kernel;
    cudaLibraryGetKernel(&kernel, libraries[c.file], c.kernel.c_str());
    void* pointers[4] = {};
    hardware::Bytes in[3];
    for (int k = 0; k < 3; ++k) {
      in[k] = hardware::make_input(c.inputs[k], k);
      if (in[k].empty()) continue;
      cudaMalloc(&pointers[k], in[k].size());
      cudaMemcpy(pointers[k], in[k].data(), in[k].size(), cudaMemcpyHostToDevice);
    }
    cudaMalloc(&pointers[3], c.output_bytes);
    cudaMemset(pointers[3], 0, c.output_bytes);
    void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3]};
    const int block = c.threads < 256 ? c.threads : 256;
    cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(c.threads / block), dim3(block), arguments, 0,
                     nullptr);
    hardware::Bytes out(c.output_bytes);
    const cudaError_t e = cudaMemcpy(out.data(), pointers[3], out.size(), cudaMemcpyDeviceToHost);
    if (e != cudaSuccess) return std::printf("%s: %s\n", c.instruction.c_str(), cudaGetErrorString(e)), 1;
    if (c.approximate())
      std::fprintf(stderr, "%s: %.3f of its bound\n", c.instruction.c_str(),
                   hardware::worst_error(c, in[0], in[1], out));
    else
      std::printf("%016llx %s\n", static_cast<unsigned long long>(hardware::hash(out)), c.instruction.c_str());
    for (void* p : pointers) cudaFree(p);
  }
  return 0;
}
