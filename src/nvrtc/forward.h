// NVIDIA's libnvrtc behind ours, where `warpgrind run` found one: it compiles as it does without warpgrind, and its PTX
// runs here. What it makes as a cubin is machine code, so that a program that asks for one gets the PTX in a container.
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
// folder: of NVIDIA's; empty: none. Null: there is none of this library's version. The same for the life of the
// process.
const Forwarded* forwarded(const std::string& folder);

}  // namespace warpgrind::nvrtc
