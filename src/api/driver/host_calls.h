// Wrappers for driver API functions that only call one function of the host layer.
#pragma once

#include "driver/driver.h"
#include "semantics/objects.h"

namespace warpgrind::driver {

// driver(), with the host layer's error converted to a CUresult.
template <class Body>
CUresult host_call(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver([&]() -> CUresult { return driver_error(body()); }, call);
}
// driver_in() for a stream, with the same conversion.
template <class Body>
CUresult call_in(CUstream stream, Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver_in(
      stream, [&]() -> CUresult { return driver_error(body()); }, call);
}
// host_call() under the lock of graphs.
template <class Body>
CUresult graph_call(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        const semantics::GraphsLock lock;
        return driver_error(body());
      },
      call);
}

// Casts between types of the two APIs that have the same members.
template <class To, class From>
To* as(From* value) {
  static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
  return reinterpret_cast<To*>(value);
}

}  // namespace warpgrind::driver
