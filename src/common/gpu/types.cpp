#include "gpu/types.h"

namespace warpgrind {

const char* name(StateSpace space) {
  switch (space) {
    case StateSpace::none:
      return "none";
    case StateSpace::reg:
      return "reg";
    case StateSpace::sreg:
      return "sreg";
    case StateSpace::constant:
      return "const";
    case StateSpace::global:
      return "global";
    case StateSpace::local:
      return "local";
    case StateSpace::param:
      return "param";
    case StateSpace::shared:
      return "shared";
    case StateSpace::generic:
      return "generic";
    case StateSpace::texture:
      return "texture";
  }
  return "unknown";
}

}  // namespace warpgrind
