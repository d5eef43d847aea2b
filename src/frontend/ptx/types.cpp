// Table of the scalar types.
#include "ptx/types.h"

#include <unordered_map>

#include "base/assert.h"

namespace warpgrind::ptx {

namespace {

enum class Family : std::uint8_t { none, bits, is_unsigned, is_signed, floating, predicate, opaque };

struct TypeInfo {
  std::string_view text;
  std::uint8_t bits;
  Family family;
};

// In the order of ScalarType.
constexpr TypeInfo kTypes[] = {
    {"none", 0, Family::none},          {"b8", 8, Family::bits},
    {"b16", 16, Family::bits},          {"b32", 32, Family::bits},
    {"b64", 64, Family::bits},          {"b128", 128, Family::bits},
    {"u8", 8, Family::is_unsigned},     {"u16", 16, Family::is_unsigned},
    {"u32", 32, Family::is_unsigned},   {"u64", 64, Family::is_unsigned},
    {"s8", 8, Family::is_signed},       {"s16", 16, Family::is_signed},
    {"s32", 32, Family::is_signed},     {"s64", 64, Family::is_signed},
    {"f16", 16, Family::floating},      {"f16x2", 32, Family::floating},
    {"bf16", 16, Family::floating},     {"bf16x2", 32, Family::floating},
    {"tf32", 32, Family::floating},     {"f32", 32, Family::floating},
    {"f32x2", 64, Family::floating},    {"f64", 64, Family::floating},
    {"u16x2", 32, Family::is_unsigned}, {"s16x2", 32, Family::is_signed},
    {"u8x4", 32, Family::is_unsigned},  {"s8x4", 32, Family::is_signed},
    {"e4m3", 8, Family::floating},      {"e5m2", 8, Family::floating},
    {"e4m3x2", 16, Family::floating},   {"e5m2x2", 16, Family::floating},
    {"e4m3x4", 32, Family::floating},   {"e5m2x4", 32, Family::floating},
    {"e2m1x2", 8, Family::floating},    {"e2m1x4", 16, Family::floating},
    {"e2m3x2", 16, Family::floating},   {"e2m3x4", 32, Family::floating},
    {"e3m2x2", 16, Family::floating},   {"e3m2x4", 32, Family::floating},
    {"ue8m0", 8, Family::floating},     {"ue8m0x2", 16, Family::floating},
    {"ue4m3", 8, Family::floating},     {"u4", 4, Family::is_unsigned},
    {"s4", 4, Family::is_signed},       {"u2", 2, Family::is_unsigned},
    {"s2", 2, Family::is_signed},       {"b1", 1, Family::bits},
    {"e2m1", 4, Family::floating},      {"e2m3", 6, Family::floating},
    {"e3m2", 6, Family::floating},      {"pred", 1, Family::predicate},
    {"texref", 64, Family::opaque},     {"samplerref", 64, Family::opaque},
    {"surfref", 64, Family::opaque},
};
constexpr std::size_t kTypeCount = sizeof(kTypes) / sizeof(kTypes[0]);
static_assert(kTypeCount == static_cast<std::size_t>(ScalarType::surfref) + 1);

const TypeInfo& info(ScalarType type) {
  WG_ASSERT(static_cast<std::size_t>(type) < kTypeCount);
  return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace

unsigned bits(ScalarType type) {
  return info(type).bits;
}
bool is_signed(ScalarType type) {
  return info(type).family == Family::is_signed;
}
bool is_unsigned(ScalarType type) {
  return info(type).family == Family::is_unsigned;
}
bool is_bits(ScalarType type) {
  return info(type).family == Family::bits;
}
bool is_float(ScalarType type) {
  return info(type).family == Family::floating;
}
std::string_view name(ScalarType type) {
  return info(type).text;
}

std::optional<ScalarType> scalar_type_from_name(std::string_view text) {
  static const auto& table = *new auto([] {
    std::unordered_map<std::string_view, ScalarType> t;
    for (std::size_t i = 1; i < kTypeCount; ++i) t.emplace(kTypes[i].text, static_cast<ScalarType>(i));
    return t;
  }());
  const auto it = table.find(text);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace warpgrind::ptx
