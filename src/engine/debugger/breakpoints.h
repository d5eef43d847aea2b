// Breakpoints as the user sets them, and their places in the kernels that run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "debugger/warp_events.h"
#include "debuginfo/debug_info.h"
#include "jit/stop_places.h"

namespace warpgrind::debugger {

// barrier: where a warp arrives at a barrier of its block. divergence: where the lanes of a warp split at a branch.
struct Breakpoint {
  enum class At : std::uint8_t { line, function, kernel_entry, instruction, barrier, divergence } at = At::line;
  std::string file;  // line: matched by its last components
  std::uint32_t line = 0;
  std::string
      function;  // function: as in DebugInfo::find_function(). kernel_entry: part of a kernel's name; empty: all
  debuginfo::CodePlace code;            // instruction; found only where a kernel can stop at it
  const ptx::Module* module = nullptr;  // instruction: of this module; null: any
  std::string condition;                // an expression; empty: always
  std::string hit_condition;            // "5", ">= 5", "% 10"; empty: every hit
  std::string log_message;              // text with {expressions}, printed instead of a stop; empty: it stops
};

// Where a breakpoint is in the places of a kernel: indexes into `places`, ascending.
struct Resolved {
  std::vector<std::uint32_t> places;
  debuginfo::SourcePlace source;  // of the first
};
// branches: of the kernel; used for divergence only.
Resolved resolve(const Breakpoint& breakpoint, const debuginfo::DebugInfo& info, std::uint32_t kernel,
                 const std::vector<jit::StopPlace>& places, const Branches& branches);

}  // namespace warpgrind::debugger
