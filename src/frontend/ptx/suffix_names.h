// Meanings of the suffix names that many syntax lines share (head of opcodes.inc): ".scope" is one of .cta, .cluster,
// .gpu and .sys. A row may define the name itself.
#pragma once

#include <string_view>

namespace warpgrind::ptx {

// The suffixes that `name` stands for: ".cta, .cluster, .gpu, .sys". Empty: the name is no such name.
std::string_view suffix_meaning(std::string_view name);

}  // namespace warpgrind::ptx
