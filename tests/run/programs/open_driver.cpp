// A program without CUDA code that opens the driver by the name in its first argument, as clients in other languages
// do. It opens the libraries named after that before the driver.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  for (int i = 2; i < argc; i++)
    if (!::dlopen(argv[i], RTLD_NOW)) return std::printf("%s\n", ::dlerror()), 1;
  void* driver = ::dlopen(argv[1], RTLD_NOW);
  if (!driver) return std::printf("%s\n", ::dlerror()), 1;
  const auto function = [&](const char* name) { return ::dlsym(driver, name); };
  int count = 0, device = -1;
  char name[64] = "";
  const int error = reinterpret_cast<int (*)(unsigned)>(function("cuInit"))(0);
  reinterpret_cast<int (*)(int*)>(function("cuDeviceGetCount"))(&count);
  reinterpret_cast<int (*)(int*, int)>(function("cuDeviceGet"))(&device, count - 1);
  reinterpret_cast<int (*)(char*, int, int)>(function("cuDeviceGetName"))(name, sizeof name, device);
  std::printf("error %d, %d devices, the last: %s\n", error, count, name);
  return 0;
}
