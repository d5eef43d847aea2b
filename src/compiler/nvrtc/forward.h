// NVIDIA's libnvrtc behind ours, if `warpgrind run` found one. It compiles as it does without warpgrind, and its PTX
// runs here. Its cubins are machine code; a program that asks for one gets the PTX in a container.
#pragma once

#define WG_NVRTC_12(result, name, parameters, arguments) WG_NVRTC(result, name, parameters, arguments)
#include <string>

#include "nvrtc.h"

namespace warpgrind::nvrtc {

struct Forwarded {
#define WG_NVRTC(result, name, parameters, arguments) result(*name) parameters = nullptr;
#include "warpgrind/nvrtc_functions.inc"
#undef WG_NVRTC
};
// `folder`: of NVIDIA's library; empty: none. Null: it has none of this library's version. The first call decides for
// the life of the process.
const Forwarded* forwarded(const std::string& folder);

}  // namespace warpgrind::nvrtc
