// Objects whose members are a table (finding_members.h), to JSON and back. A member that is missing or of another type
// keeps its default.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/json.h"
#include "results/finding_members.h"

namespace warpgrind::results {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

class JsonWriter {
 public:
  using Json = nlohmann::ordered_json;
  Json out = Json::object();

  template <class T>
  void member(const char* key, const T& x, Since since, const char*) {
    if constexpr (kIsOptional<T>) {
      if (x) out[key] = value(*x);
    } else {
      if constexpr (std::is_same_v<T, std::string>)
        if (since == Since::if_any && x.empty()) return;
      out[key] = value(x);
    }
  }
  template <class T>
  void member_if(bool there, const char* key, const T& x, const char* what) {
    if (there) member(key, x, Since::first, what);
  }
  template <class T>
  static Json value(const T& x) {
    if constexpr (std::is_same_v<T, Severity>) {
      return name(x);
    } else if constexpr (std::is_same_v<T, Dim3>) {
      return Json::array({x.x, x.y, x.z});
    } else if constexpr (kIsList<T>) {
      Json list = Json::array();
      for (const auto& element : x) list.push_back(value(element));
      return list;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return x;
    } else {
      JsonWriter inner;
      members(inner, x);
      return std::move(inner.out);
    }
  }
};

class JsonReader {
 public:
  using Json = nlohmann::ordered_json;
  explicit JsonReader(const Json& from) : from_(from) {}

  template <class T>
  void member(const char* key, T& x, Since, const char*) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      json::read(from_, key, x);
    } else if (const auto it = from_.find(key); it != from_.end()) {
      read(*it, x);
    }
  }
  template <class T>
  void member_if(bool& there, const char* key, T& x, const char* what) {
    there |= from_.contains(key);
    member(key, x, Since::first, what);
  }
  template <class T>
  static void read(const Json& j, T& x) {
    if constexpr (std::is_same_v<T, Severity>) {
      for (const Severity s : {Severity::info, Severity::warning, Severity::error})
        if (j == name(s)) x = s;
    } else if constexpr (std::is_same_v<T, Dim3>) {
      if (!j.is_array() || j.size() != 3) return;
      for (const Json& n : j)
        if (!n.is_number_unsigned()) return;
      x = {j[0].template get<std::uint32_t>(), j[1].template get<std::uint32_t>(), j[2].template get<std::uint32_t>()};
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      if (!j.is_array()) return;
      for (const Json& s : j)
        if (s.is_string()) x.push_back(s.template get<std::string>());
    } else if constexpr (kIsList<T>) {
      if (!j.is_array()) return;
      for (const Json& element : j)
        if (element.is_object()) read(element, x.emplace_back());
    } else if constexpr (kIsOptional<T>) {
      if (j.is_object()) read(j, x.emplace());
    } else {
      JsonReader inner(j);
      members(inner, x);
    }
  }

 private:
  const Json& from_;
};

}  // namespace warpgrind::results
