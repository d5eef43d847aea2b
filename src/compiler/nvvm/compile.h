// Compilation of LLVM IR modules: clang, in a process of its own, links them and compiles them to PTX.
#pragma once

#include <string>
#include <vector>

#include "nvvm.h"

namespace warpgrind::nvvm {

struct Module {
  std::string bytes;  // text or bitcode
  std::string name;
  bool lazy = false;  // link only what other modules use of it
};

struct Compiled {
  nvvmResult result = NVVM_SUCCESS;
  std::string ptx;
  std::string log;
};

// Where clang and our libraries are found, as for toolchain::find_toolkit_of().
struct Surroundings {
  std::string libraries;  // the folder of libcudart.so.13
  std::string path;       // the value of PATH
};

Compiled compile(const std::vector<Module>& modules, const std::vector<std::string>& options,
                 const Surroundings& surroundings);
// Checks that the modules can be read.
Compiled verify(const std::vector<Module>& modules, const std::vector<std::string>& options,
                const Surroundings& surroundings);

}  // namespace warpgrind::nvvm
