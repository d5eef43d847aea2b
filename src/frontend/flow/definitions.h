// Definitions of each register of a function, independent of their order.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::flow {

struct Definitions {
  ptx::Function function;  // one register for each web (flow/webs.h); instructions keep their numbers
  // By register: the instructions that write it.
  std::vector<std::vector<std::uint32_t>> of;
  std::vector<bool> unwritten;  // by register: may be read before it is written
};

Definitions find_definitions(const ptx::Function& function);

}  // namespace warpgrind::flow
