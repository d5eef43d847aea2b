// Reports whether LLVM is in the process. It must be loaded only when a kernel has to be compiled.
//   llvm_loaded free|kernel   calls cudaFree(0), or launches a kernel
#include <cstdio>
#include <cstring>

__global__ void add_one(int* value) {
  ++*value;
}

static bool is_mapped(const char* library) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  bool found = false;
  while (maps && std::fgets(line, sizeof line, maps)) found = found || std::strstr(line, library);
  if (maps) std::fclose(maps);
  return found;
}

int main(int argc, char** argv) {
  const bool launches = argc > 1 && !std::strcmp(argv[1], "kernel");
  if (cudaFree(nullptr) != cudaSuccess) return 1;
  if (launches) {
    int *value = nullptr, host = 0;
    if (cudaMalloc(&value, sizeof *value) || cudaMemset(value, 0, sizeof *value)) return 1;
    add_one<<<1, 1>>>(value);
    if (cudaMemcpy(&host, value, sizeof host, cudaMemcpyDeviceToHost) || host != 1) return 1;
  }
  std::printf("runtime: %s, LLVM: %s\n", is_mapped("libcudart.so") ? "yes" : "no", is_mapped("libLLVM") ? "yes" : "no");
  return 0;
}
