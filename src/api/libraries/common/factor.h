// Scalar factors of any type, such as alpha and beta.
#pragma once

#include "libraries/common/elements.h"
#include "libraries/common/issue.h"

namespace warpgrind::libraries {

// One scalar factor. In host memory it is read at the call; in device memory when the stream reaches the work.
class Factor {
 public:
  Factor(cudaDataType type, const void* at, bool on_device)
      : type_(type), at_(on_device ? at : nullptr), value_(on_device ? 0 : read_factor(type, at)) {}
  template <class D>
  bool get(LibraryRun& run, const char* name, D& out) const {
    if (at_ && !run.reads(name, at_, element_bytes(type_))) return false;
    out = converted<D>(at_ ? read_factor(type_, at_) : value_);
    return true;
  }

 private:
  cudaDataType type_;
  const void* at_;
  DoubleComplex value_;
};

}  // namespace warpgrind::libraries
