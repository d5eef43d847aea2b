#pragma once

namespace warpgrind::cudart {

enum cudaError_t : int {
#define WG_ERROR(name, value, text) name = value,
#include "cudart/errors.inc"
#undef WG_ERROR
};

const char* error_name(cudaError_t error);
const char* error_text(cudaError_t error);

}  // namespace warpgrind::cudart
