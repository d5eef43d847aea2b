// Check of arguments against a JSON Schema.
#include "mcp/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace warpgrind::mcp {

namespace {

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return true;
}

std::string listed(const Json& names) {
  std::string out;
  for (const Json& name : names)
    if (name.is_string()) out += (out.empty() ? "" : ", ") + name.get<std::string>();
  return out;
}

std::string names_of(const Json& object) {
  Json names = Json::array();
  for (const auto& [name, ignored] : object.items()) names.push_back(name);
  return listed(names);
}

std::string object_mismatch(const Json& value, const Json& schema, const std::string& name) {
  static const Json none = Json::object();
  const auto found = schema.find("properties");
  const Json& properties = found == schema.end() ? none : *found;
  if (const auto required = schema.find("required"); required != schema.end())
    for (const Json& key : *required)
      if (!value.contains(key.get<std::string>()))
        return fmt::format("{}: \"{}\" is missing", name, key.get<std::string>());
  for (const auto& [key, member] : value.items()) {
    const auto rule = properties.find(key);
    if (rule == properties.end())
      return fmt::format("{}: there is no argument \"{}\"; known: {}", name, key.substr(0, 60), names_of(properties));
    if (std::string why = find_mismatch(member, *rule, key); !why.empty()) return why;
  }
  return "";
}

std::string number_mismatch(const Json& value, const Json& schema, const std::string& name) {
  const double number = value.get<double>();
  if (const auto least = schema.find("minimum"); least != schema.end() && number < least->get<double>())
    return fmt::format("{} must be at least {}", name, least->get<double>());
  if (const auto most = schema.find("maximum"); most != schema.end() && number > most->get<double>())
    return fmt::format("{} must be at most {}", name, most->get<double>());
  return "";
}

}  // namespace

std::string find_mismatch(const Json& value, const Json& schema, const std::string& name) {
  if (const std::string type = json::text(schema, "type"); !has_type(value, type))
    return fmt::format("{} must be of type {}", name, type);
  if (const auto words = schema.find("enum"); words != schema.end())
    if (std::find(words->begin(), words->end(), value) == words->end())
      return fmt::format("{} must be one of: {}", name, listed(*words));
  if (value.is_object()) return object_mismatch(value, schema, name);
  if (value.is_number()) return number_mismatch(value, schema, name);
  if (value.is_string() && schema.contains("maxLength")) {
    const auto most = json::get<std::size_t>(schema, "maxLength");
    if (value.get_ref<const std::string&>().size() > most) return fmt::format("{} has more than {} bytes", name, most);
  }
  if (!value.is_array()) return "";
  if (schema.contains("maxItems") && value.size() > json::get<std::size_t>(schema, "maxItems"))
    return fmt::format("{} has more than {} items", name, json::get<std::size_t>(schema, "maxItems"));
  if (const auto items = schema.find("items"); items != schema.end())
    for (const Json& item : value)
      if (std::string why = find_mismatch(item, *items, "each item of " + name); !why.empty()) return why;
  return "";
}

}  // namespace warpgrind::mcp
