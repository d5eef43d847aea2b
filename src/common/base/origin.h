// Origin of a number: every reported number has one (docs/ARCHITECTURE.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgrind {

enum class Origin : std::uint8_t {
  exact,      // determined by addresses, masks and the launch alone
  modelled,   // rests on an assumed choice of driver, cache or arbiter
  estimated,  // time on a GPU that is not present
  measured,   // a real clock or a real hardware counter
  sampled     // counted or timed from some blocks of a launch, scaled to all (warpgrind run --sample-blocks)
};
inline constexpr Origin kOrigins[] = {Origin::exact, Origin::modelled, Origin::estimated, Origin::measured,
                                      Origin::sampled};
const char* name(Origin origin);
// An unknown word gives `exact`: files older than this field had only exact numbers.
Origin origin_of(std::string_view word);

}  // namespace warpgrind
