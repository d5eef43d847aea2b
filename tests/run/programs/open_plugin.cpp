// A program without CUDA that opens libraries with kernels, as Python does: calls run() of each, then closes it.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    void* library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::printf("%s\n", dlerror());
      return 3;
    }
    auto run = reinterpret_cast<int (*)()>(dlsym(library, "run"));
    if (!run || run()) return 4;
    dlclose(library);
  }
  std::printf("host: done\n");
  return 0;
}
