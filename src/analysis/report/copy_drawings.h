// Text drawings of tensor copies and of their readers for the page of the HTML report: those of `warpgrind explain`.
#pragma once

#include <nlohmann/json.hpp>

namespace warpgrind::report {

// Adds "drawing" to each tensor copy, to each operand of wgmma and to each pattern with a tile. `profile`: a profile
// file's object.
void add_copy_drawings(nlohmann::ordered_json& profile);

}  // namespace warpgrind::report
