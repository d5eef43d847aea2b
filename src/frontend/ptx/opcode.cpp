// Lookup of opcodes and modifiers by name.
#include "ptx/opcode.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "base/assert.h"

namespace warpgrind::ptx {

namespace {

constexpr OpcodeInfo kInfo[] = {
#define WG_PTX_OPCODE(identifier, lowering, ...) OpcodeInfo{.refused = {}, __VA_ARGS__},
#define WG_PTX_REFUSED(identifier, why, ...)                                                        \
  OpcodeInfo{.refused = why,                                                                        \
             __VA_ARGS__,                                                                           \
             .result = ResultForm::varying,                                                         \
             .waits = Waits::never,                                                                 \
             .cost = CostRule::none,                                                                \
             .pointers = PointerFlow::any,                                                          \
             .undefined = UndefinedFlow::defined,                                                   \
             .checked = CheckedUses::addresses,                                                     \
             .needs = FormNeeds::row,                                                               \
             .integer = IntegerOperation::other,                                                    \
             .effects = Effects::reads | Effects::writes | Effects::convergent | Effects::may_trap, \
             .site = SiteKind::other,                                                               \
             .order = ImpliedOrder::weak},
#include "ptx/opcodes.inc"
};

constexpr std::string_view kModifierText[] = {
#define WG_PTX_MODIFIER(identifier, text) text,
#include "ptx/modifiers.inc"
#undef WG_PTX_MODIFIER
};

static_assert(kOpcodes <= 256, "Opcode is stored in one byte");
static_assert(std::all_of(std::begin(kInfo), std::end(kInfo),
                          [](const OpcodeInfo& o) {
                            return o.result != ResultForm::computed || o.integer != IntegerOperation::other;
                          }),
              "flow/transfer.cpp computes forms from the integer operation");

}  // namespace

const OpcodeInfo& info(Opcode opcode) {
  WG_ASSERT(static_cast<unsigned>(opcode) < kOpcodes);
  return kInfo[static_cast<unsigned>(opcode)];
}

std::string_view name(Opcode opcode) {
  return info(opcode).text;
}

std::string_view name(Modifier modifier) {
  WG_ASSERT(static_cast<unsigned>(modifier) < kModifiers);
  return kModifierText[static_cast<unsigned>(modifier)];
}

std::optional<Opcode> opcode_from_text(std::string_view text) {
  static const auto& table = *new auto([] {
    std::unordered_map<std::string_view, Opcode> t;
    for (unsigned i = 0; i < kOpcodes; ++i) t.emplace(kInfo[i].text, static_cast<Opcode>(i));
    return t;
  }());
  const auto it = table.find(text);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Modifier> modifier_from_text(std::string_view text) {
  static const auto& table = *new auto([] {
    std::unordered_map<std::string_view, Modifier> t;
    for (unsigned i = 0; i < kModifiers; ++i) t.emplace(kModifierText[i], static_cast<Modifier>(i));
    return t;
  }());
  const auto it = table.find(text);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace warpgrind::ptx
