// The families of reference/generate.py on a real GPU: the same kernels, inputs and expected bits.
//   python3 reference/generate.py FOLDER
//   nvcc -std=c++17 -o run_exec_on_gpu run_exec_on_gpu.cu && ./run_exec_on_gpu FOLDER [FAMILY...]
#include "case_file.h"

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return std::printf("usage: run_exec_on_gpu FOLDER [FAMILY...]\n"), 2;
  const std::string folder = words[0];
  words.erase(words.begin());
  unsigned failures = 0;
  for (const std::string& family : words.empty() ? exec::families() : words) {
    cudaLibrary_t library;
    cudaError_t e = cudaLibraryLoadFromFile(&library, (folder + "/" + family + ".ptx").c_str(), nullptr, nullptr, 0,
                                            nullptr, nullptr, 0);
    if (e != cudaSuccess) return std::printf("%s: %s\n", family.c_str(), cudaGetErrorString(e)), 2;
    const std::vector<exec::Kernel> kernels = exec::read_kernels(folder + "/" + family + ".txt");
    for (const exec::Kernel& kernel : kernels) {
      const std::vector<std::uint64_t> input = kernel.input();
      std::vector<std::uint64_t> output(kernel.out.size() * exec::kElements);
      void *in, *out;
      cudaMalloc(&in, input.size() * 8);
      cudaMalloc(&out, output.size() * 8);
      cudaMemcpy(in, input.data(), input.size() * 8, cudaMemcpyHostToDevice);
      cudaMemset(out, 0, output.size() * 8);
      void* arguments[] = {&in, &out};
      cudaKernel_t function;
      e = cudaLibraryGetKernel(&function, library, kernel.name.c_str());
      if (e == cudaSuccess)
        e = cudaLaunchKernel(reinterpret_cast<const void*>(function), dim3(1), dim3(exec::kElements), arguments, 0,
                             nullptr);
      if (e == cudaSuccess) e = cudaMemcpy(output.data(), out, output.size() * 8, cudaMemcpyDeviceToHost);
      if (e != cudaSuccess) return std::printf("%s: %s\n", kernel.name.c_str(), cudaGetErrorString(e)), 2;
      failures +=
          exec::judge(kernel, output, "GPU", [](const std::string& text) { std::printf("%s\n", text.c_str()); });
      cudaFree(in);
      cudaFree(out);
    }
  }
  std::printf("%u differ\n", failures);
  return failures != 0;
}
