#include "base/origin.h"

namespace warpgrind {

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
    case Origin::sampled:
      return "sampled";
  }
  return "unknown";
}

Origin origin_of(std::string_view word) {
  for (const Origin o : kOrigins)
    if (word == name(o)) return o;
  return Origin::exact;
}

}  // namespace warpgrind
