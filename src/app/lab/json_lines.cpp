#include "lab/json_lines.h"

namespace warpgrind::lab {

namespace {

using Json = nlohmann::json;

bool is_broken(const Json& value) {
  if (value.is_array()) return !value.empty() && value.front().is_object();
  return value.is_object() && (value.contains("rows") || value.contains("topics"));
}

std::string text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What is inside a value on one line is on that line too.
void append(std::string& out, const Json& value, std::size_t indent, bool may_break) {
  if (!value.is_structured() || value.empty()) {
    out += text(value);
    return;
  }
  const bool broken = may_break && is_broken(value);
  const std::string separator = broken ? ",\n" + std::string(indent + 1, ' ') : ", ";
  out += value.is_array() ? '[' : '{';
  if (broken) out += "\n" + std::string(indent + 1, ' ');
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) out += separator;
    first = false;
    if (value.is_object()) out += text(key) + ": ";
    append(out, item, indent + 1, broken);
  }
  if (broken) out += "\n" + std::string(indent, ' ');
  out += value.is_array() ? ']' : '}';
}

}  // namespace

std::string json_lines(const Json& value) {
  std::string out;
  append(out, value, 0, true);
  return out + "\n";
}

}  // namespace warpgrind::lab
