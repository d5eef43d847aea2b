// Definitions generated from the table of functions (include/warpgrind/driver_functions.inc): twins, unsupported
// functions, and the array of all functions.
#include "driver/entries.h"

#include "driver/driver.h"

namespace warpgrind::driver {

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define WG_TWIN(symbol, twin, parameters, arguments) \
  CUresult symbol##twin parameters {                 \
    const semantics::NullStreamIsOwn scope;          \
    return symbol arguments;                         \
  }
#define WG_DRIVER(name, symbol, version, parameters, arguments)
#define WG_DRIVER_PTDS(name, symbol, version, parameters, arguments) WG_TWIN(symbol, _ptds, parameters, arguments)
#define WG_DRIVER_PTSZ(name, symbol, version, parameters, arguments) WG_TWIN(symbol, _ptsz, parameters, arguments)
#define WG_REFUSED(symbol, parameters) \
  CUresult symbol parameters {         \
    return not_supported(#symbol);     \
  }
#define WG_DRIVER_UNSUPPORTED(name, symbol, version, parameters, arguments) WG_REFUSED(symbol, parameters)
#define WG_DRIVER_UNSUPPORTED_PTDS(name, symbol, version, parameters, arguments) \
  WG_REFUSED(symbol, parameters)                                                 \
  WG_REFUSED(symbol##_ptds, parameters)
#define WG_DRIVER_UNSUPPORTED_PTSZ(name, symbol, version, parameters, arguments) \
  WG_REFUSED(symbol, parameters)                                                 \
  WG_REFUSED(symbol##_ptsz, parameters)
#define WG_DRIVER_UNDECLARED(name, symbol, version) WG_REFUSED(symbol, ())
#define WG_DRIVER_NAME(name, symbol, version)
#include "warpgrind/driver_functions.inc"
#undef WG_TWIN
#undef WG_REFUSED
#undef WG_DRIVER
#undef WG_DRIVER_PTDS
#undef WG_DRIVER_PTSZ
#undef WG_DRIVER_UNSUPPORTED
#undef WG_DRIVER_UNSUPPORTED_PTDS
#undef WG_DRIVER_UNSUPPORTED_PTSZ
#undef WG_DRIVER_UNDECLARED
#undef WG_DRIVER_NAME

namespace {

template <class Function>
constexpr auto any(Function* function) {
  return reinterpret_cast<void (*)()>(function);
}

}  // namespace

}  // namespace warpgrind::driver

using namespace warpgrind::driver;  // NOLINT: the array has C linkage and is not in the namespace

const DriverEntry warpgrind_driver_entries[] = {
#define WG_ENTRY(name, symbol, version, own) {#name, #symbol, version, any(&warpgrind::driver::symbol), own},
#define WG_DRIVER(name, symbol, version, parameters, arguments) WG_ENTRY(name, symbol, version, nullptr)
#define WG_DRIVER_PTDS(name, symbol, version, parameters, arguments) \
  WG_ENTRY(name, symbol, version, any(&warpgrind::driver::symbol##_ptds))
#define WG_DRIVER_PTSZ(name, symbol, version, parameters, arguments) \
  WG_ENTRY(name, symbol, version, any(&warpgrind::driver::symbol##_ptsz))
#define WG_DRIVER_UNDECLARED(name, symbol, version) WG_ENTRY(name, symbol, version, nullptr)
#define WG_DRIVER_NAME(name, symbol, version) WG_ENTRY(name, symbol, version, nullptr)
#include "warpgrind/driver_rows.h"
    {nullptr, nullptr, 0, nullptr, nullptr}};
