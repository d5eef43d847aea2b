// The programs of generate.py on a real GPU.
//   nvcc -std=c++17 -o run_random_on_gpu run_random_on_gpu.cu && ./run_random_on_gpu RESULTS [RAW] FILE.ptx...
// Writes one line of hashes a program to RESULTS, and with RAW all rows (8 bytes a value, in the order of the
// programs).
#include "cases.h"

using namespace random_programs;

static bool run(cudaLibrary_t library, const Case& c, void* in, std::FILE* results, std::FILE* raw) {
  std::vector<std::uint64_t> output(c.bytes() / 8), again(c.bytes() / 8);
  cudaKernel_t function;
  cudaError_t e = cudaLibraryGetKernel(&function, library, c.name().c_str());
  for (auto* to : {&output, &again}) {  // twice: a program whose result is not defined shows
    void* out;
    cudaMalloc(&out, c.bytes());
    cudaMemset(out, 0, c.bytes());
    void* arguments[] = {&in, &out};
    if (e == cudaSuccess)
      e = cudaLaunchKernel(reinterpret_cast<const void*>(function), dim3(c.grid), dim3(c.x, c.y), arguments, 0,
                           nullptr);
    if (e == cudaSuccess) e = cudaMemcpy(to->data(), out, c.bytes(), cudaMemcpyDeviceToHost);
    cudaFree(out);
  }
  if (e != cudaSuccess) return std::printf("case %u: %s\n", c.number, cudaGetErrorString(e)), false;
  if (output != again) return std::printf("case %u: two runs differ\n", c.number), true;
  write_line(results, c, row_hashes(c, output));
  if (raw) std::fwrite(output.data(), 8, c.threads() * c.rows, raw);
  return true;
}

int main(int argc, char** argv) {
  if (argc < 3) return std::printf("usage: run_random_on_gpu RESULTS [RAW] FILE.ptx...\n"), 2;
  std::FILE* results = std::fopen(argv[1], "w");
  std::FILE* raw = std::strstr(argv[2], ".ptx") ? nullptr : std::fopen(argv[2], "wb");
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  int driver = 0;
  cudaDriverGetVersion(&driver);
  std::fprintf(results, "# %s, driver for CUDA %d, PTX compiled by the driver\n", properties.name, driver);
  const std::vector<std::uint64_t> words = input();
  void* in;
  cudaMalloc(&in, words.size() * 8);
  cudaMemcpy(in, words.data(), words.size() * 8, cudaMemcpyHostToDevice);
  unsigned done = 0;
  for (int k = raw ? 3 : 2; k < argc; ++k) {
    cudaLibrary_t library;
    const cudaError_t e = cudaLibraryLoadFromFile(&library, argv[k], nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (e != cudaSuccess) {
      std::printf("%s: %s\n", argv[k], cudaGetErrorString(e));
      continue;
    }
    for (const Case& c : cases_of(read_text(argv[k]))) {
      if (!run(library, c, in, results, raw)) return 1;
      ++done;
    }
    cudaLibraryUnload(library);
  }
  std::fclose(results);
  if (raw) std::fclose(raw);
  std::printf("%u programs\n", done);
}
