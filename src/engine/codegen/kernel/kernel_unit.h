// State that all functions of one kernel share while they are lowered.
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "events/site.h"
#include "jit/compile/compiler.h"
#include "jit/layout.h"
#include "jit/stop_places.h"

namespace warpgrind::jit {

struct KernelUnit {
  const ptx::Module* module = nullptr;
  CompileOptions options;
  llvm::Module* llvm = nullptr;
  events::KernelFacts facts;
  const KernelLayout* layout = nullptr;
  std::map<std::uint32_t, llvm::Function*> functions;  // by ptx function index
  std::optional<Error> error;                          // the first error
  std::vector<StopPlace> stop_places;                  // empty: the kernel has no stops
  bool keeps_time = false;                             // the kernel or a function it calls reads a clock
  bool has_regions = false;                            // CompiledKernel::has_regions
  std::uint64_t region_bytes = 0;                      // CompiledKernel::region_bytes
  bool by_table = false;                               // registers are accessed by address: quick tier only
  // Code of CompileOptions::quick_start. It is as short as possible: accesses of LaneAccess call the device, and
  // registers are accessed by address.
  bool quick_start = false;
  std::uint64_t left_out = 0;                  // about how many instructions of IR the code of its tier has in addition
  std::vector<Error>* all_refusals = nullptr;  // set: a dry run, which continues after an error
};

}  // namespace warpgrind::jit
