// Functions that are not supported yet: each returns that error for any arguments. Also every function with all
// arguments null or zero: it returns an error or does nothing. The expectations are in null_arguments.txt;
// WARPGRIND_REWRITE=1 rewrites them. tests/api has the same tests of the runtime API, but calls its functions with
// their types: a library of the driver API has symbols that no header declares.
#include <dlfcn.h>

#include "../null_arguments.h"
#include "driver_test.h"

namespace warpgrind::driver {

namespace {

// Six arguments are in registers. The others, and structures by value, are on the stack. No function of the table takes
// more than 128 bytes there, and arguments that a function does not have are harmless.
struct OnStack {
  long words[16] = {};
};
CUresult call(const std::string& symbol) {
  using Function = CUresult (*)(long, long, long, long, long, long, OnStack);
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  const auto function = reinterpret_cast<Function>(::dlsym(library, symbol.c_str()));
  EXPECT_NE(function, nullptr) << symbol;
  return function ? function(0, 0, 0, 0, 0, 0, OnStack()) : CUDA_ERROR_NOT_FOUND;
}

}  // namespace

TEST(Unsupported, SaySo) {
#define WG_DRIVER(name, symbol, version, parameters, arguments)
#define WG_DRIVER_PTDS WG_DRIVER
#define WG_DRIVER_PTSZ WG_DRIVER
#define WG_DRIVER_NAME(name, symbol, version)
#define WG_DRIVER_UNDECLARED(name, symbol, version) EXPECT_EQ(call(#symbol), CUDA_ERROR_NOT_SUPPORTED) << #symbol;
#define WG_DRIVER_UNSUPPORTED(name, symbol, version, parameters, arguments) \
  EXPECT_EQ(call(#symbol), CUDA_ERROR_NOT_SUPPORTED) << #symbol;
#define WG_DRIVER_UNSUPPORTED_PTDS(name, symbol, version, parameters, arguments) \
  EXPECT_EQ(call(#symbol), CUDA_ERROR_NOT_SUPPORTED) << #symbol;                 \
  EXPECT_EQ(call(#symbol "_ptds"), CUDA_ERROR_NOT_SUPPORTED) << #symbol;
#define WG_DRIVER_UNSUPPORTED_PTSZ(name, symbol, version, parameters, arguments) \
  EXPECT_EQ(call(#symbol), CUDA_ERROR_NOT_SUPPORTED) << #symbol;                 \
  EXPECT_EQ(call(#symbol "_ptsz"), CUDA_ERROR_NOT_SUPPORTED) << #symbol;
#include "warpgrind/driver_functions.inc"
#undef WG_DRIVER
#undef WG_DRIVER_PTDS
#undef WG_DRIVER_PTSZ
#undef WG_DRIVER_NAME
#undef WG_DRIVER_UNDECLARED
#undef WG_DRIVER_UNSUPPORTED
#undef WG_DRIVER_UNSUPPORTED_PTDS
#undef WG_DRIVER_UNSUPPORTED_PTSZ
}

TEST(NullArguments, AreRefusedOrHarmless) {
  std::map<std::string, std::string> seen;
  OK(cuInit(0));
  CUcontext context = nullptr;
  OK(cuCtxCreate(&context, nullptr, 0, 0));
  const auto see = [&](const std::string& symbol) {
    OK(cuCtxSetCurrent(context));
    const CUresult error = call(symbol);
    const char* name = nullptr;
    OK(cuGetErrorName(error, &name));
    seen[symbol] = name;
    CUgraph graph = nullptr;
    cuStreamEndCapture_ptsz(nullptr, &graph);  // ends a capture that the call has begun
  };
#define WG_DRIVER(name, symbol, version, parameters, arguments) see(#symbol);
#define WG_DRIVER_PTDS(name, symbol, version, parameters, arguments) see(#symbol), see(#symbol "_ptds");
#define WG_DRIVER_PTSZ(name, symbol, version, parameters, arguments) see(#symbol), see(#symbol "_ptsz");
#define WG_DRIVER_NAME(name, symbol, version)
#define WG_DRIVER_UNDECLARED(name, symbol, version)
#define WG_DRIVER_UNSUPPORTED(name, symbol, version, parameters, arguments)
#define WG_DRIVER_UNSUPPORTED_PTDS WG_DRIVER_UNSUPPORTED
#define WG_DRIVER_UNSUPPORTED_PTSZ WG_DRIVER_UNSUPPORTED
#include "warpgrind/driver_functions.inc"
  expect_stored(seen, WARPGRIND_TESTS "/null_arguments.txt");
}

}  // namespace warpgrind::driver
