// What a module uses and only declares.
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
// Functions and variables that some function's code names and this module does not define, once each: functions first,
// both in the order of their declarations. Shared memory whose size the launch decides is none of them.
std::vector<Undefined> undefined_references(const Module& module);

// Functions that no module defines and that are there nevertheless: printf, malloc and assertions of kernels, and the
// device runtime, which a GPU takes from libcudadevrt.a.
bool is_always_there(std::string_view function);

}  // namespace warpgrind::ptx
