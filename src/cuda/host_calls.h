// For functions of the driver API that are a function of host and nothing else.
#pragma once

#include "cuda/driver.h"
#include "host/objects.h"

namespace warpgrind::cuda {

// driver(), with the error of host as the driver API has it.
template <class Body>
CUresult host_call(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver([&]() -> CUresult { return driver_error(body()); }, call);
}
// Of a stream: driver_in(), likewise.
template <class Body>
CUresult call_in(CUstream stream, Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver_in(
      stream, [&]() -> CUresult { return driver_error(body()); }, call);
}
// host_call() with graphs.
template <class Body>
CUresult graph_call(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        const host::GraphsLock lock;
        return driver_error(body());
      },
      call);
}

// Types of both APIs with the same members.
template <class To, class From>
To* as(From* value) {
  static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
  return reinterpret_cast<To*>(value);
}

}  // namespace warpgrind::cuda
