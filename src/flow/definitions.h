// Where each register of a function gets its values, whatever the order.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::flow {

struct Definitions {
  ptx::Function function;  // with one web a register (flow/webs.h); its instructions have the same numbers
  std::vector<std::vector<std::uint32_t>> of;  // by register: the instructions that write it
  std::vector<bool> unwritten;                 // by register: may be read before it is written
};

Definitions find_definitions(const ptx::Function& function);

}  // namespace warpgrind::flow
