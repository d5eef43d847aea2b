// Names inside a function body with nested { } scopes, for the parser.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

enum class SymbolKind : std::uint8_t { register_, variable, function, table };

struct Symbol {
  SymbolKind kind = SymbolKind::register_;
  std::uint8_t components = 1;  // vector registers: this many registers from `index` on
  std::uint32_t index = kNoId;
};

// `.reg .b32 %r<40>;`. A register is created at its first use, so a huge range costs nothing.
struct RegisterRange {
  std::uint64_t count = 0;
  ScalarType type = ScalarType::b32;
  std::uint8_t components = 1;
  std::vector<RegId> dense;                         // by number; kNoId: not used yet
  std::unordered_map<std::uint64_t, RegId> sparse;  // numbers too high for `dense`
};

struct NameScope {
  std::unordered_map<std::string_view, Symbol> names;
  std::unordered_map<std::string_view, RegisterRange> ranges;  // by prefix: "%r"
  std::unordered_map<std::string_view, LabelId> labels;
  std::unordered_map<std::string_view, std::uint32_t> label_references;  // index into FunctionParser::label_references_
};

}  // namespace warpgrind::ptx
