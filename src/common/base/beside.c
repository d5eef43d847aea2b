// Constructor of libcuda.so.1 and libnvidia-ml.so.1, libraries of jumps into libcudart.so.13. It opens the
// libcudart.so.13 beside the library by path. The name would not do: NVIDIA's library of that name may already be
// loaded (PyTorch brings one).
//
// WARPGRIND_ENTRIES: the symbol that libcudart.so.13 exports for this library. WARPGRIND_RUNTIME: its path relative to
// this library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

__attribute__((visibility("hidden"))) const void* wg_entries;

__attribute__((constructor)) static void find_entries(void) {
  static const char kWhat[] = "warpgrind: error: libcudart.so.13 of warpgrind is not beside its libcuda.so.1\n";
  char path[4096];
  Dl_info self;
  const char* slash = dladdr(&wg_entries, &self) && self.dli_fname ? strrchr(self.dli_fname, '/') : NULL;
  const size_t length = slash ? (size_t)(slash + 1 - self.dli_fname) : 0;
  if (slash && length + sizeof WARPGRIND_RUNTIME <= sizeof path) {
    memcpy(path, self.dli_fname, length);
    memcpy(path + length, WARPGRIND_RUNTIME, sizeof WARPGRIND_RUNTIME);
    void* runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (runtime) wg_entries = dlsym(runtime, TEXT(WARPGRIND_ENTRIES));
  }
  if (wg_entries) return;
  const char* why = dlerror();
  if (write(2, kWhat, sizeof kWhat - 1) < 0 || (why && write(2, why, strlen(why)) < 0)) _exit(127);
  _exit(127);
}
