// Runs the kernels of generate.py on a real GPU and writes results.txt:
//   python3 generate.py FOLDER && for f in FOLDER/*.ptx; do ptxas -arch=sm_90a $f -o ${f%.ptx}.cubin; done
//   nvcc -std=c++17 -cudart static -o run_forms_on_gpu run_forms_on_gpu.cu
//   ./run_forms_on_gpu FOLDER LINES RAW PROGRESS [FROM]
// LINES gets a line "mode hash form" for each result; collect.py makes results.txt of it. RAW gets every word that the
// kernels wrote, in their order; with it run_forms names the values that differ. After a fault the context is lost: the
// program names the kernel and ends with 3. PROGRESS holds the number of the kernel that it ran last: start it again
// with the next one as FROM.
#include "cases.h"

int main(int argc, char** argv) {
  if (argc < 5) return std::printf("usage: run_forms_on_gpu FOLDER LINES RAW PROGRESS [FROM]\n"), 2;
  const std::string folder = argv[1];
  const std::size_t from = argc > 5 ? std::strtoul(argv[5], nullptr, 10) : 0;
  const std::vector<forms::Kernel> kernels = forms::read_kernels(folder);
  const std::vector<std::uint64_t> inputs = forms::read_inputs(folder);
  std::FILE* lines = std::fopen(argv[2], from ? "a" : "w");
  std::FILE* raw = std::fopen(argv[3], from ? "r+b" : "wb");
  std::size_t before = 0;
  for (std::size_t n = 0; n < from; ++n) before += kernels[n].words() * 8;
  std::fseek(raw, static_cast<long>(before), SEEK_SET);
  std::map<std::string, cudaLibrary_t> libraries;
  void* in = nullptr;
  cudaMalloc(&in, inputs.size() * 8);
  cudaMemcpy(in, inputs.data(), inputs.size() * 8, cudaMemcpyHostToDevice);
  for (std::size_t n = from; n < kernels.size(); ++n) {
    const forms::Kernel& k = kernels[n];
    std::FILE* progress = std::fopen(argv[4], "w");
    std::fprintf(progress, "%zu\n", n);
    std::fclose(progress);
    std::vector<std::uint64_t> output(k.words()), memory = forms::memory_of(k, inputs);
    cudaError_t e = cudaSuccess;
    if (!libraries.count(k.file))
      e = cudaLibraryLoadFromFile(&libraries[k.file],
                                  (folder + "/" + k.file.substr(0, k.file.size() - 4) + ".cubin").c_str(), nullptr,
                                  nullptr, 0, nullptr, nullptr, 0);
    cudaKernel_t function = nullptr;
    if (e == cudaSuccess) e = cudaLibraryGetKernel(&function, libraries[k.file], k.name.c_str());
    void *out = nullptr, *space = nullptr;
    cudaMalloc(&out, output.size() * 8);
    cudaMalloc(&space, memory.size() * 8);
    cudaMemset(out, 0, output.size() * 8);
    cudaMemcpy(space, memory.data(), memory.size() * 8, cudaMemcpyHostToDevice);
    std::uint64_t parameter = forms::kParameter;
    void* arguments[] = {&in, &out, &space, &parameter};
    if (e == cudaSuccess)
      e = cudaLaunchKernel(reinterpret_cast<const void*>(function), dim3(static_cast<unsigned>(k.blocks)),
                           dim3(static_cast<unsigned>(k.threads)), arguments, 0, nullptr);
    if (e == cudaSuccess) e = cudaMemcpy(output.data(), out, output.size() * 8, cudaMemcpyDeviceToHost);
    std::fwrite(output.data(), 8, output.size(), raw);
    if (e != cudaSuccess) {
      std::fprintf(stderr, "%s: %s, of:\n", k.name.c_str(), cudaGetErrorString(e));
      for (const forms::Form& form : k.forms) std::fprintf(stderr, "    %s %s\n", form.mode.c_str(), form.text.c_str());
      std::fclose(lines);
      std::fclose(raw);
      return 3;
    }
    for (const forms::Form& form : k.forms)
      std::fprintf(lines, "%s %s %s\n", form.mode.c_str(), forms::hex(forms::hash(k, form, output)).c_str(),
                   form.text.c_str());
    std::fflush(lines);
    std::fflush(raw);
    cudaFree(out);
    cudaFree(space);
  }
  return 0;
}
