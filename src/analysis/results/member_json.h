// JSON writer and reader for objects with a member table (members.h). When reading, a member that is missing or has
// another type keeps its default; a list element of another type is dropped. The reader names the first such place.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/origin.h"
#include "gpu/types.h"
#include "results/finding.h"
#include "results/members.h"

namespace warpgrind::results {

template <class T, template <class...> class Of>
inline constexpr bool kIsA = false;
template <template <class...> class Of, class... A>
inline constexpr bool kIsA<Of<A...>, Of> = true;
template <class T>
inline constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

class JsonWriter {
 public:
  using Json = nlohmann::ordered_json;
  Json out = Json::object();
  explicit JsonWriter(std::size_t index = 0) : index_(index) {}

  template <class T>
  void member(const char* key, const T& x, Since since, const char*) {
    if (since != Since::if_any || is_any(x)) out[key] = value(x);
  }
  template <class T>
  void member_if(bool there, const char* key, const T& x, Since since, const char* what) {
    if (there) member(key, x, since, what);
  }
  template <class Make>
  void derived(const char* key, Make&& make, Since, const char*) {
    out[key] = value(make());
  }
  void index(const char* key, const char*) { out[key] = index_; }

  // index: position of x in its list.
  template <class T>
  static Json value(const T& x, std::size_t index = 0) {
    if constexpr (std::is_same_v<T, Severity> || std::is_same_v<T, Origin>) {
      return name(x);
    } else if constexpr (std::is_same_v<T, Dim3>) {
      return Json::array({x.x, x.y, x.z});
    } else if constexpr (std::is_floating_point_v<T>) {
      return number(x);
    } else if constexpr (kIsPlain<T>) {
      return x;
    } else if constexpr (kIsA<T, std::optional>) {
      return x ? value(*x) : Json(nullptr);
    } else if constexpr (kIsA<T, std::vector>) {
      Json list = Json::array();
      for (std::size_t i = 0; i < x.size(); ++i) list.push_back(value(x[i], i));
      return list;
    } else if constexpr (kIsA<T, std::map>) {
      Json all = Json::object();
      for (const auto& [key, one] : x) all[key] = value(one);
      return all;
    } else if constexpr (kIsA<T, Hex>) {
      return fmt::format("{:#0{}x}", x.number, x.width);
    } else if constexpr (kIsA<T, LaneAddresses>) {
      Json list = Json::array();
      for (unsigned l = 0; l < kWarpSize; ++l)
        list.push_back((x.mask >> l & 1) != 0 ? Json(x.addresses[l]) : Json(nullptr));
      return list;
    } else if constexpr (kIsA<T, NumberOrWord>) {
      return x.word.empty() ? number(x.number) : Json(x.word);
    } else if constexpr (kIsA<T, WithPoint>) {
      return x.number;
    } else {
      JsonWriter inner(index);
      members(inner, x);
      return std::move(inner.out);
    }
  }

 private:
  std::size_t index_;

  // Writes whole numbers (counts) without a decimal point, up to 2^53.
  static Json number(double value) {
    constexpr double kExact = 9007199254740992.0;
    if (std::floor(value) == value && std::fabs(value) <= kExact) return static_cast<std::int64_t>(value);
    return value;
  }

  template <class T>
  static bool is_any(const T& x) {
    if constexpr (std::is_same_v<T, std::string> || kIsA<T, std::vector>)
      return !x.empty();
    else if constexpr (std::is_same_v<T, bool> || kIsA<T, std::optional>)
      return static_cast<bool>(x);
    else
      return true;
  }
};

class JsonReader {
 public:
  using Json = nlohmann::ordered_json;

  // Returns the first place where `j` has not the form of an x, ".kernels[2].launches: a whole number is wanted";
  // empty: there is none. Numbers may be null: JSON has no infinity.
  template <class T>
  static std::string read(const Json& j, T& x) {
    std::string problem;
    read_value(j, x, problem);
    return problem;
  }

  template <class T>
  void member(const char* key, T&& x, Since since, const char*) {
    using Value = std::remove_reference_t<T>;
    const bool was_good = problem_.empty();
    if (const auto it = from_.find(key); it != from_.end()) {
      read_value(*it, x, problem_);
    } else {
      // An older file without this member. Texts and origins may be missing: no comparison takes them for a 0.
      constexpr bool kIsOrigin = std::is_same_v<Value, Origin>, kIsText = std::is_same_v<Value, std::string>;
      if constexpr (kIsOrigin) x = origin_of("");
      if (!kIsOrigin && !kIsText && since == Since::first && !optional_) want(false, "is missing", problem_);
    }
    if (was_good && !problem_.empty()) problem_ = fmt::format(".{}{}", key, problem_);
  }
  template <class T>
  void member_if(bool& there, const char* key, T&& x, Since since, const char* what) {
    there |= from_.contains(key);
    optional_ = true;
    member(key, x, since, what);
    optional_ = false;
  }
  template <class Make>
  void derived(const char*, Make&&, Since, const char*) {}
  void index(const char*, const char*) {}

 private:
  const Json& from_;
  std::string& problem_;
  bool optional_ = false;  // the member may be missing

  JsonReader(const Json& from, std::string& problem) : from_(from), problem_(problem) {}

  static void want(bool is_good, const char* what, std::string& problem) {
    if (!is_good && problem.empty()) problem = std::string(": ") + what;
  }

  template <class T>
  static void read_value(const Json& j, T& x, std::string& problem) {
    if constexpr (std::is_same_v<T, Severity>) {
      for (const Severity s : {Severity::info, Severity::warning, Severity::error})
        if (j == name(s)) x = s;
      want(j.is_string(), "a text is wanted", problem);
    } else if constexpr (std::is_same_v<T, Origin>) {
      x = origin_of(word(j));
      want(j.is_string(), "a text is wanted", problem);
    } else if constexpr (std::is_same_v<T, Dim3>) {
      want(read_dim(j, x), "three numbers are wanted", problem);
    } else if constexpr (std::is_same_v<T, std::string>) {
      want(json::read_value(j, x), "a text is wanted", problem);
    } else if constexpr (std::is_same_v<T, bool>) {
      want(json::read_value(j, x), "true or false is wanted", problem);
    } else if constexpr (std::is_floating_point_v<T>) {
      want(json::read_value(j, x) || j.is_null(), "a number is wanted", problem);
    } else if constexpr (kIsPlain<T>) {
      want(json::read_value(j, x), "a whole number in its range is wanted", problem);
    } else if constexpr (kIsA<T, std::optional>) {
      read_optional(j, x, problem);
    } else if constexpr (kIsA<T, std::vector>) {
      read_list(j, x, problem);
    } else if constexpr (kIsA<T, std::map>) {
      read_map(j, x, problem);
    } else if constexpr (kIsA<T, Hex>) {
      x.number = static_cast<std::remove_reference_t<decltype(x.number)>>(std::strtoull(word(j).c_str(), nullptr, 16));
      want(j.is_string(), "a text is wanted", problem);
    } else if constexpr (kIsA<T, LaneAddresses>) {
      read_addresses(j, x.mask, x.addresses);
      want(j.is_array(), "a list is wanted", problem);
    } else if constexpr (kIsA<T, NumberOrWord>) {
      want(json::read_value(j, x.number) || json::read_value(j, x.word) || j.is_null(), "a number or text is wanted",
           problem);
    } else if constexpr (kIsA<T, WithPoint>) {
      want(json::read_value(j, x.number) || j.is_null(), "a number is wanted", problem);
    } else {
      if (!j.is_object()) return want(false, "an object is wanted", problem);
      JsonReader inner(j, problem);
      members(inner, x);
    }
  }

  static std::string word(const Json& j) {
    std::string out;
    json::read_value(j, out);
    return out;
  }
  template <class T>
  static void read_optional(const Json& j, std::optional<T>& out, std::string& problem) {
    if (j.is_null()) return;
    if constexpr (std::is_unsigned_v<T>) {
      const bool fits = j.is_number_unsigned() && std::in_range<T>(j.get<std::uint64_t>());
      if (fits) out = j.get<T>();
      want(fits, "a whole number in its range is wanted", problem);
    } else {
      if (!j.is_object()) return want(false, "an object is wanted", problem);
      read_value(j, out.emplace(), problem);
    }
  }
  template <class T>
  static void read_list(const Json& j, std::vector<T>& out, std::string& problem) {
    if (!j.is_array()) return want(false, "a list is wanted", problem);
    constexpr bool kTexts = std::is_same_v<T, std::string>;
    for (std::size_t i = 0; i < j.size(); ++i) {
      const bool was_good = problem.empty();
      if (kTexts ? j[i].is_string() : j[i].is_object())
        read_value(j[i], out.emplace_back(), problem);
      else
        want(false, kTexts ? "a text is wanted" : "an object is wanted", problem);
      if (was_good && !problem.empty()) problem = fmt::format("[{}]{}", i, problem);
    }
  }
  template <class Map>
  static void read_map(const Json& j, Map& out, std::string& problem) {
    if (!j.is_object()) return want(false, "an object is wanted", problem);
    for (auto it = j.begin(); it != j.end(); ++it) {
      const bool was_good = problem.empty();
      if (it.value().is_object())
        read_value(it.value(), out[it.key()], problem);
      else
        want(false, "an object is wanted", problem);
      if (was_good && !problem.empty()) problem = fmt::format(".{}{}", it.key(), problem);
    }
  }
  static bool read_dim(const Json& j, Dim3& out) {
    if (!j.is_array() || j.size() != 3) return false;
    for (const Json& n : j)
      if (!n.is_number_unsigned()) return false;
    out = {j[0].get<std::uint32_t>(), j[1].get<std::uint32_t>(), j[2].get<std::uint32_t>()};
    return true;
  }
  template <class Mask, class Addresses>
  static void read_addresses(const Json& j, Mask& mask, Addresses& out) {
    if (!j.is_array()) return;
    for (std::size_t lane = 0; lane < std::min<std::size_t>(j.size(), out.size()); ++lane) {
      if (j[lane].is_number_integer())
        out[lane] = j[lane].get<std::int64_t>();
      else
        mask &= ~(Mask{1} << lane);
    }
  }
};

}  // namespace warpgrind::results
