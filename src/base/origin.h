// No number without its origin (docs/ARCHITECTURE.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgrind {

enum class Origin : std::uint8_t {
  exact,      // addresses, masks and the launch alone decide
  modelled,   // rests on an assumed choice of driver, cache or arbiter
  estimated,  // time on a GPU that is not there
  measured    // a real clock or a real hardware counter
};
const char* name(Origin origin);
Origin origin_of(std::string_view word);  // an unknown word: exact, as files before the field had nothing else

}  // namespace warpgrind
