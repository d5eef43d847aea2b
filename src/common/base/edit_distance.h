// Edit distance between names, for "did you mean" hints.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind {

// Levenshtein distance: the fewest insertions, deletions and replacements that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Indexes of the names that look like `written`, nearest first, at most `most` edits away. A name that contains
// `written` counts as nearer than its distance.
std::vector<std::size_t> nearest_names(std::string_view written, std::span<const std::string> names, std::size_t most);

}  // namespace warpgrind
