// Tolerant reading of JSON members. A member that is missing, has another type, or holds a number out of range leaves
// the default.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace warpgrind::json {

// Sets `out`. False: the value has another type, or is out of range.
template <class Json, class T>
bool read_value(const Json& j, T& out) {
  const auto set = [&](bool good, const auto& value) {
    if (good) out = static_cast<T>(value);
    return good;
  };
  if constexpr (std::is_same_v<T, bool>) {
    return j.is_boolean() && set(true, j.template get<bool>());
  } else if constexpr (std::is_integral_v<T>) {
    if (j.is_number_unsigned()) {
      const auto n = j.template get<std::uint64_t>();
      return set(std::in_range<T>(n), n);
    }
    if (j.is_number_integer()) {
      const auto n = j.template get<std::int64_t>();
      return set(std::in_range<T>(n), n);
    }
    if (!j.is_number()) return false;
    constexpr double kEnd = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
    const auto n = j.template get<double>();
    return set(n >= static_cast<double>(std::numeric_limits<T>::min()) && n < kEnd, n);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return j.is_number() && set(true, j.template get<T>());
  } else {
    return j.is_string() && set(true, j.template get<std::string>());
  }
}

// Reads a member of an object.
template <class Json, class T>
void read(const Json& j, std::string_view key, T& out) {
  if (const auto it = j.find(key); it != j.end()) read_value(*it, out);
}

// The member, or T{} if it cannot be read.
template <class T, class Json>
T get(const Json& j, std::string_view key) {
  T out{};
  read(j, key, out);
  return out;
}

// A string member; empty if it is missing or of another type.
template <class Json>
std::string text(const Json& j, std::string_view key) {
  return get<std::string>(j, key);
}

// Calls f for every object in a list.
template <class Json, class F>
void each(const Json& j, std::string_view key, F&& f) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_array()) return;
  for (const Json& element : *it)
    if (element.is_object()) f(element);
}

}  // namespace warpgrind::json
