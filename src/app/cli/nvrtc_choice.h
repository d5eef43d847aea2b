// Choice of the libnvrtc that compiles for a program under test: NVIDIA's if it is installed, because it needs no GPU,
// otherwise ours (src/compiler/nvrtc). The program finds ours in both cases. Ours passes the work on to NVIDIA's,
// except cubins: those hold machine code.
#pragma once

#include <string>

#include "base/result.h"

namespace warpgrind::cli {

// `which`: "auto", "nvidia", "ours". For programs that this process starts after this call. `library`: our
// libcudart.so.13.
Status choose_nvrtc(const std::string& which, const std::string& library);

// "NVIDIA's, /usr/local/cuda/lib64/libnvrtc.so.13" or "warpgrind's, ...": the choice of "auto".
std::string chosen_nvrtc();

}  // namespace warpgrind::cli
