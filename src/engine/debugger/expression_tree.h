// Syntax tree of an expression, and the words of its text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/arithmetic.h"

namespace warpgrind::debugger {

enum class NodeKind : std::uint8_t {
  literal,
  name,           // `text`, with `ns::`
  reg,            // `text`: "%r5"
  lane_number,    // $lane
  warp_number,    // $warp
  member,         // first . text, or first -> text
  index,          // first[second]
  dereference,    // *first
  address_of,     // &first
  cast,           // (type) first
  size_of,        // sizeof first
  unary,          // `unary` first
  binary,         // first `binary` second
  logical_and,    // first && second
  logical_or,     // first || second
  conditional,    // first ? second : third
  repeat,         // first @ second
  assign,         // first = second
  assign_binary,  // first += second
  comma,          // first, second
};

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffff;

struct Node {
  NodeKind kind = NodeKind::literal;
  Unary unary{};
  Binary binary{};
  bool only_global = false;  // name: written `::name`
  NodeId first = kNoNode, second = kNoNode, third = kNoNode;
  TypeId type = kVoidType;  // cast
  std::uint32_t depth = 1;  // of the tree below
  std::uint32_t begin = 0;  // in the text
  std::string text;
  std::string file;  // name: 'file'::name
  Value literal;
};

// What a name meant at a place of code.
struct ResolvedName {
  bool is_known = false;
  bool is_built_in = false;  // threadIdx and the like; nothing else is set then
  std::string name;
  TypeId type = kVoidType;
  debuginfo::Location location;
  const debuginfo::Variable* variable = nullptr;  // null: one of the PTX
  std::vector<const debuginfo::Member*> members;  // not empty: a member of `*this`, which the location is of
};

struct NameCache {
  debuginfo::CodePlace code;
  std::uint32_t frame = 0;
  std::vector<ResolvedName> names;  // by NodeId
};

struct ExpressionTree {
  std::string text;
  std::vector<Node> nodes;
  NodeId root = kNoNode;
  bool assigns = false;
  NameCache cache;
};

// "text\n   ^": `begin` counts bytes.
std::string caret_line(std::string_view text, std::uint32_t begin);

}  // namespace warpgrind::debugger
