#include "gpu/timing_constants.h"

namespace warpgrind {
namespace {

constexpr TimingFigure kFigures[] = {
#define WG_TIMING(name, unit, what, rule) {#name, unit, what, &TimingConstants::name, false},
#define WG_TIMING_OR_NONE(name, unit, what, rule) {#name, unit, what, &TimingConstants::name, true},
#include "gpu/timing_constants.inc"
#undef WG_TIMING
};

}  // namespace

const char* name(TimingOrigin origin) {
  switch (origin) {
    case TimingOrigin::measured:
      return "measured";
    case TimingOrigin::literature:
      return "literature";
    case TimingOrigin::assumed:
      return "assumed";
  }
  return "unknown";
}

std::span<const TimingFigure> timing_figures() {
  return kFigures;
}

}  // namespace warpgrind
