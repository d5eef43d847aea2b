// Names that a module uses but only declares.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

struct Undefined {
  std::string name;
  bool is_function = true;  // else a variable
};
// Functions and variables that the module's code uses but the module does not define, once each: functions first, both
// in the order of their declarations. Shared memory sized by the launch is not included.
std::vector<Undefined> undefined_references(const Module& module);

// True for functions that exist although no module defines them: printf, malloc and assertions of kernels, and the
// device runtime, which a GPU takes from libcudadevrt.a.
bool is_always_there(std::string_view function);

}  // namespace warpgrind::ptx
