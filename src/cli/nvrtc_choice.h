// Which libnvrtc compiles for a program under test: NVIDIA's where it is installed, as it needs no GPU, and else ours
// (src/nvrtc). The program finds ours in both cases, which hands over to NVIDIA's but for cubins: those have machine
// code.
#pragma once

#include <string>

#include "base/result.h"

namespace warpgrind::cli {

// which: "auto", "nvidia", "ours". For programs that this process starts from now on; library: our libcudart.so.13.
Status choose_nvrtc(const std::string& which, const std::string& library);

// "NVIDIA's, /usr/local/cuda/lib64/libnvrtc.so.13" or "warpgrind's, ...", as "auto" chooses.
std::string chosen_nvrtc();

}  // namespace warpgrind::cli
