// Runs the cases of generate.py or tensor_cores.py on a real GPU and writes what is expected:
//   python3 generate.py FOLDER
//   nvcc -std=c++17 -o run_on_gpu run_on_gpu.cu && ./run_on_gpu FOLDER > expected.txt
//   python3 tensor_cores.py FOLDER && ./run_on_gpu FOLDER tensor_cores.txt > tensor_cores.expected
// A third argument is a file for the results themselves, and a fourth the number of the first case.
#include <cstdio>
#include <map>

#include "inputs.h"

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const std::vector<hardware::Case> cases = hardware::read_cases(folder + "/" + (argc > 2 ? argv[2] : "cases.txt"));
  std::FILE* const results = argc > 3 ? std::fopen(argv[3], "ab") : nullptr;
  std::map<std::string, cudaLibrary_t> libraries;
  for (std::size_t number = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 0; number < cases.size(); ++number) {
    const hardware::Case& c = cases[number];
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
    if (results) std::fwrite(out.data(), 1, out.size(), results);
    for (void* p : pointers) cudaFree(p);
  }
  return 0;
}
