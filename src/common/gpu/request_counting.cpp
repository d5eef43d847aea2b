// Choice between the counting functions for AVX2 and AVX-512.
#include "gpu/request_counting.h"

#include "base/vectors.h"

#define WG_FOR_VECTORS "gpu/request_counting.inc"
#include "base/for_vectors.inc"

namespace warpgrind {

const RequestCounting& request_counting_avx2() {
  return avx2::kRequestCounting;
}

const RequestCounting& request_counting_avx512() {
  return avx512::kRequestCounting;
}

const RequestCounting& request_counting() {
  return kHaveAvx512 ? request_counting_avx512() : request_counting_avx2();
}

}  // namespace warpgrind
