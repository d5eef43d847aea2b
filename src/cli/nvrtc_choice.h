// Which libnvrtc a program under test finds: NVIDIA's where it is installed, as it needs no GPU, and else ours
// (src/nvrtc).
#pragma once

#include <string>

#include "base/result.h"

namespace warpgrind::cli {

// NVIDIA's, with its path: in LD_LIBRARY_PATH, in the toolkit of CUDA_HOME, CUDA_PATH, nvcc or /usr/local/cuda, or
// where the loader knows of it. Empty: there is none.
std::string nvidia_nvrtc();

// which: "auto", "nvidia", "ours". For programs that this process starts from now on; library: our libcudart.so.13;
// links: a folder to make, for links to NVIDIA's: its own has libraries that nobody should find through us.
Status choose_nvrtc(const std::string& which, const std::string& library, const std::string& links);

// "NVIDIA's, /usr/local/cuda/lib64/libnvrtc.so.13" or "warpgrind's, ...".
std::string chosen_nvrtc();

}  // namespace warpgrind::cli
