// NVIDIA's libnvJitLink behind ours, if `warpgrind run` found it. Only that library reads LTO IR, a format of NVIDIA's
// own compilers. It needs no GPU, and links the inputs to PTX for us.
#pragma once

#include <string>
#include <vector>

#include "nvJitLink.h"

namespace warpgrind::jitlink {

struct LtoInput {
  nvJitLinkInputType type = NVJITLINK_INPUT_LTOIR;
  std::string bytes, name;
};

struct LtoLinked {
  nvJitLinkResult result = NVJITLINK_SUCCESS;
  std::string ptx;
  std::string errors, info;  // its logs
};

// WARPGRIND_NVIDIA_JITLINK names its folder (base/run_variables.h). False: LTO IR cannot be read here.
bool reads_lto();

// `options`: the program's own, unchanged. `called`: functions that code outside these inputs calls. Unless named here,
// a function that no kernel of the inputs needs would be left out.
LtoLinked link_lto(const std::vector<LtoInput>& inputs, const std::vector<std::string>& options,
                   const std::vector<std::string>& called);

}  // namespace warpgrind::jitlink
