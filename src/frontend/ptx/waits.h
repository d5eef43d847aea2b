// Test for instructions that make a thread wait for others.
#pragma once

#include "ptx/ast.h"

namespace warpgrind::ptx {

// In a function's body they have no guard: the parser replaces it by a branch around the instruction.
inline bool waits_for_others(const Instruction& i) {
  switch (info(i.opcode).waits) {
    case Waits::with_sync:
      return i.has(Modifier::sync);
    case Waits::unless_arrive:
      return !i.has(Modifier::arrive);
    case Waits::never:
      break;
  }
  return false;
}

}  // namespace warpgrind::ptx
