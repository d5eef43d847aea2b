// JSON text with one row a line, so that a changed figure is one changed line of a diff.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace warpgrind::lab {

// Objects that hold rows, topics or models are broken over lines, and so are arrays of objects. Everything else is on
// one line. Bytes that are not UTF-8 are replaced.
std::string json_lines(const nlohmann::json& value);

}  // namespace warpgrind::lab
