// Members of JSON that somebody else wrote: what is missing or of another type leaves the default.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace warpgrind::json {

template <class Json, class T>
void read(const Json& j, std::string_view key, T& out) {
  const auto it = j.find(key);
  if (it == j.end()) return;
  if constexpr (std::is_same_v<T, bool>) {
    if (it->is_boolean()) out = it->template get<bool>();
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (it->is_number()) out = it->template get<T>();
  } else {
    if (it->is_string()) out = it->template get<std::string>();
  }
}

// The member, or T{}.
template <class T, class Json>
T get(const Json& j, std::string_view key) {
  T out{};
  read(j, key, out);
  return out;
}

// Every object of a list.
template <class Json, class F>
void each(const Json& j, std::string_view key, F&& f) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_array()) return;
  for (const Json& element : *it)
    if (element.is_object()) f(element);
}

}  // namespace warpgrind::json
