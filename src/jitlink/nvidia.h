// NVIDIA's libnvJitLink behind ours, where `warpgrind run` found it: LTO IR is a format of NVIDIA's own compilers,
// which that library alone reads. It needs no GPU, and is asked for PTX.
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

// Its folder is what WARPGRIND_NVIDIA_JITLINK says (base/run_variables.h). False: LTO IR cannot be read here.
bool reads_lto();

// options: the program's own, as they came. called: functions that code beside these inputs calls; without being named
// they would be left out where a kernel of the inputs does not need them.
LtoLinked link_lto(const std::vector<LtoInput>& inputs, const std::vector<std::string>& options,
                   const std::vector<std::string>& called);

}  // namespace warpgrind::jitlink
