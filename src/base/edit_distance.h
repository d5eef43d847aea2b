// How far two names are apart, for "did you mean".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind {

// Levenshtein's distance: insertions, deletions and replacements that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Indexes of the names that look like `written`, the nearest first: none further than `most` edits. Part of a name
// counts as near.
std::vector<std::size_t> nearest_names(std::string_view written, std::span<const std::string> names, std::size_t most);

}  // namespace warpgrind
