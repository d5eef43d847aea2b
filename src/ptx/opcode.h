// Opcodes and modifiers of PTX, made from the two tables opcodes.inc and modifiers.inc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "gpu/instruction_kinds.h"

namespace warpgrind::ptx {

enum class Opcode : std::uint8_t {
#define WG_PTX_OPCODE(identifier, ...) identifier,
#include "ptx/opcodes.inc"
};

enum class Modifier : std::uint16_t {
#define WG_PTX_MODIFIER(identifier, text) identifier,
#include "ptx/modifiers.inc"
#undef WG_PTX_MODIFIER
};

inline constexpr unsigned kOpcodes = 0
#define WG_PTX_OPCODE(identifier, ...) +1
#include "ptx/opcodes.inc"
    ;

inline constexpr unsigned kModifiers = 0
#define WG_PTX_MODIFIER(identifier, text) +1
#include "ptx/modifiers.inc"
#undef WG_PTX_MODIFIER
    ;

// How the result varies over the lanes (flow/forms.h).
enum class ResultForm : std::uint8_t {
  by_sources,     // uniform where all sources are
  varying,        // always one value a lane
  uniform,        // always one for the warp
  among_members,  // the first one for the warp where the lanes name the same members (.sync), else varying
  computed        // by flow/transfer.cpp
};

// Does it keep lanes until others have come?
enum class Waits : std::uint8_t { never, with_sync, unless_arrive };

struct PtxVersion {
  std::uint8_t major = 1, minor = 0;
  friend auto operator<=>(const PtxVersion&, const PtxVersion&) = default;
};

// The facts of one opcode (one row of opcodes.inc).
struct OpcodeInfo {
  std::string_view refused;  // why no kernel with it can run; empty: it can
  std::string_view text;     // as written in PTX: "cp.async.commit_group"
  std::string_view syntax;   // the manual's syntax line, modifiers and optional parts included
  InstructionClass op_class = InstructionClass::misc;
  std::uint8_t destinations =
      0;             // destination operands of the plain form (`d|p` adds one; bar.red has one: see the parser)
  PtxVersion since;  // first PTX ISA version
  std::uint8_t architecture = 0;  // least compute capability times 10 (Target ISA Notes); 0: 2.0 or before
  bool reads_memory = false;      // also: orders earlier reads (barriers, fences)
  bool writes_memory = false;
  bool convergent = false;  // its result depends on which other lanes execute it together
  bool may_trap = false;    // can end the kernel with an error
  bool updates = false;     // reads its destination, too
  SiteKind site = SiteKind::barrier;
  ResultForm result = ResultForm::by_sources;
  Waits waits = Waits::never;
  bool ends_block = false;  // control may go elsewhere than to the next instruction
  std::string_view description;
};

const OpcodeInfo& info(Opcode opcode);
std::string_view name(Opcode opcode);                               // PTX text
std::string_view name(Modifier modifier);                           // PTX text without the dot: "shared::cta"
std::optional<Opcode> opcode_from_text(std::string_view text);      // exact: "cp.async.bulk"
std::optional<Modifier> modifier_from_text(std::string_view text);  // without the dot

}  // namespace warpgrind::ptx
