// How far two names are apart, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace warpgrind {

// Levenshtein's distance: insertions, deletions and replacements that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace warpgrind
