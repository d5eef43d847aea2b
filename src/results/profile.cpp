#include "results/profile.h"

namespace warpgrind::results {

const char* name(Origin origin) {
  switch (origin) {
    case Origin::exact:
      return "exact";
    case Origin::modelled:
      return "modelled";
    case Origin::estimated:
      return "estimated";
    case Origin::measured:
      return "measured";
  }
  return "unknown";
}

}  // namespace warpgrind::results
