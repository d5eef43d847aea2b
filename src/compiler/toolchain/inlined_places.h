// `inlined_at` in PTX. clang 19 cannot write it; src/compiler/launchpass/inlined_places.h numbers the places of inlined
// code instead, and leaves comments that describe the numbers.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind::toolchain {

// The PTX with nvcc's directives, `.loc 2 93 5, function_name LABEL, inlined_at 1 9 13`, and without the comments.
std::string with_inlined_places(std::string_view ptx);

}  // namespace warpgrind::toolchain
