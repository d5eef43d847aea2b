// Instructions that keep a thread until others have come.
#pragma once

#include "ptx/ast.h"

namespace warpgrind::ptx {

// A function's body has none with a guard: the parser writes a branch around it.
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
