#include "semantics/state.h"

namespace warpgrind::semantics {

const char* error_name(cudaError_t error) {
  switch (error) {
#define WG_ERROR(name, value, text) \
  case name:                        \
    return #name;
#include "warpgrind/cuda_errors.inc"
#undef WG_ERROR
    case cudaErrorApiFailureBase:
      break;
  }
  return "unrecognized error code";
}

const char* error_text(cudaError_t error) {
  switch (error) {
#define WG_ERROR(name, value, text) \
  case name:                        \
    return text;
#include "warpgrind/cuda_errors.inc"
#undef WG_ERROR
    case cudaErrorApiFailureBase:
      break;
  }
  return "unrecognized error code";
}

}  // namespace warpgrind::semantics
