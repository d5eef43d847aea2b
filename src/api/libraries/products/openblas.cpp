// Loading of OpenBLAS and its LAPACK functions.
#include "libraries/products/openblas.h"

#include "libraries/common/host_library.h"

namespace warpgrind::libraries::blas {

namespace {

template <class T>
void find_lapack(HostLibrary& library, Lapack<T>& out, const std::string& letter) {
  const auto find = [&](auto& function, const char* name) { library.find(function, (letter + name + "_").c_str()); };
  find(out.getrf, "getrf");
  find(out.getrs, "getrs");
  find(out.getri, "getri");
  find(out.geqrf, "geqrf");
  find(out.gels, "gels");
}

// Prefers the serial variant of OpenBLAS. Kernels and calls of other streams use all processors at the same time, and
// the threads of the other variants spin while they wait for work. If only another is installed, it uses one thread.
HostLibrary& host_openblas() {
  static auto* library = new HostLibrary({WARPGRIND_OPENBLAS, "libopenblas.so.0"}, "libopenblas0-serial");
  return *library;
}

OpenBlas load_openblas() {
  OpenBlas b;
  HostLibrary& library = host_openblas();
#define WG_FIND_ALL(name)                   \
  library.find(b.s##name, "cblas_s" #name); \
  library.find(b.d##name, "cblas_d" #name); \
  library.find(b.c##name, "cblas_c" #name); \
  library.find(b.z##name, "cblas_z" #name);
#define WG_FIND_REAL(name)                  \
  library.find(b.s##name, "cblas_s" #name); \
  library.find(b.d##name, "cblas_d" #name);
#define WG_FIND_COMPLEX(name)               \
  library.find(b.c##name, "cblas_c" #name); \
  library.find(b.z##name, "cblas_z" #name);
#define WG_FIND(name) library.find(b.name, #name);
  WG_CBLAS_OF_ALL(WG_FIND_ALL)
  WG_CBLAS_OF_REAL(WG_FIND_REAL)
  WG_CBLAS_OF_COMPLEX(WG_FIND_COMPLEX)
  WG_CBLAS_OTHERS(WG_FIND)
#undef WG_FIND_ALL
#undef WG_FIND_REAL
#undef WG_FIND_COMPLEX
#undef WG_FIND
  find_lapack(library, b.s, "s");
  find_lapack(library, b.d, "d");
  find_lapack(library, b.c, "c");
  find_lapack(library, b.z, "z");
  b.missing = library.missing();
  if (b.missing.empty()) b.openblas_set_num_threads(1);
  return b;
}

}  // namespace

const OpenBlas& openblas() {
  static const auto* loaded = new OpenBlas(load_openblas());
  return *loaded;
}

void* find_in_openblas(const char* name) {
  return openblas().missing.empty() ? host_openblas().find(name) : nullptr;
}

}  // namespace warpgrind::libraries::blas
