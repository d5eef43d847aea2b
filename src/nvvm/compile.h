// Modules of LLVM IR linked and compiled to PTX, by clang in a process of its own.
#pragma once

#include <string>
#include <vector>

#include "nvvm.h"

namespace warpgrind::nvvm {

struct Module {
  std::string bytes;  // text or bitcode
  std::string name;
  bool lazy = false;  // only what others use of it
};

struct Compiled {
  nvvmResult result = NVVM_SUCCESS;
  std::string ptx;
  std::string log;
};

// Where clang and our libraries are, as a toolchain::Toolkit is found.
struct Surroundings {
  std::string libraries;  // the folder of libcudart.so.13
  std::string path;       // the value of PATH
};

Compiled compile(const std::vector<Module>& modules, const std::vector<std::string>& options,
                 const Surroundings& surroundings);
// Whether the modules can be read.
Compiled verify(const std::vector<Module>& modules, const std::vector<std::string>& options,
                const Surroundings& surroundings);

}  // namespace warpgrind::nvvm
