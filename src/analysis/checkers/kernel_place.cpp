// Source places of kernel instructions, with inlined calls and library headers resolved.
#include "checkers/kernel_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/demangle.h"
#include "base/words.h"
#include "ptx/ast.h"
#include "ptx/inlining.h"
#include "ptx/printer.h"

namespace warpgrind::checkers {

namespace {

void take_source(results::FindingAccess& a, ptx::SourcePlace place) {
  a.file = std::move(place.file);
  a.line = place.line;
  a.inlined_at.clear();
  for (ptx::Caller& c : place.callers) a.inlined_at.push_back({std::move(c.file), std::move(c.function), c.line});
  a.header.reset();
  if (place.header) a.header = {place.header->file, place.header->function, place.header->line};
}

}  // namespace

const char* verb_of(AccessType type) {
  return type == AccessType::load ? "read" : type == AccessType::store ? "write" : "atomic";
}

std::string plain_name(const std::string& mangled) {
  const std::string name = demangle(mangled);
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

Dim3 thread_of(const events::Launch& launch, std::uint32_t warp, unsigned lane) {
  const std::uint32_t linear = warp * kWarpSize + lane;
  const std::uint32_t x = std::max(1u, launch.block.x), y = std::max(1u, launch.block.y);
  return {linear % x, linear / x % y, linear / x / y};
}

Dim3 block_of(const events::Launch& launch, std::uint64_t linear) {
  const std::uint64_t x = std::max(1u, launch.grid.x), y = std::max(1u, launch.grid.y);
  return {static_cast<std::uint32_t>(linear % x), static_cast<std::uint32_t>(linear / x % y),
          static_cast<std::uint32_t>(linear / x / y)};
}

results::FindingAccess access_at(const events::Launch& launch, std::uint32_t site, const Dim3& block,
                                 std::uint32_t warp, unsigned lane, std::string access) {
  results::FindingAccess a;
  a.access = std::move(access);
  a.kernel = demangle(launch.facts->name);
  a.launch = launch.work;
  a.of_thread = true;
  a.block = block;
  a.thread = thread_of(launch, warp, lane);
  a.warp = warp;
  a.lane = lane;
  if (site >= launch.facts->sites.size()) return a;
  const events::Site& s = launch.facts->sites[site];
  if (s.line && s.file < launch.facts->files.size()) a.file = launch.facts->files[s.file];
  a.line = s.line;
  a.ptx_line = s.ptx_line;
  a.ptx = s.text;
  if (s.function != launch.facts->name) a.function = demangle(s.function);
  if (launch.module) take_source(a, ptx::source_place(*launch.module, s.function, s.instruction));
  return a;
}

void move_to(results::FindingAccess& a, const events::Launch& launch, const events::Site& from,
             std::uint32_t instruction) {
  if (!launch.module || instruction == from.instruction) return;
  const ptx::Module& module = *launch.module;
  const auto function = std::find_if(module.functions.begin(), module.functions.end(),
                                     [&](const ptx::Function& f) { return f.has_body && f.name == from.function; });
  if (function == module.functions.end() || instruction >= function->body.size()) return;
  const ptx::Instruction& i = function->body[instruction];
  a.ptx_line = i.range.line;
  a.ptx = ptx::print(i, *function, module);
  take_source(a, ptx::source_place(module, *function, i));
}

results::FindingAccess access_at(const events::WarpEvent& e, unsigned lane, std::string access) {
  if ((e.mask >> lane & 1) == 0 && e.mask != 0) lane = static_cast<unsigned>(std::countr_zero(e.mask));
  return access_at(*e.launch, e.site, e.block, e.warp, lane, std::move(access));
}

std::string place_text(const results::FindingAccess& a) {
  if (a.line) return fmt::format("{}:{}", base_name(a.file), a.line);
  return a.ptx_line ? fmt::format("PTX line {}", a.ptx_line) : a.function;
}

void take_place(results::Finding& f, const results::FindingAccess& a) {
  f.kernel = a.kernel;
  f.file = a.file;
  f.line = a.line;
  f.text = a.ptx;
  f.ptx_line = a.ptx_line;
  f.block = a.block;
  f.thread = a.thread;
}

}  // namespace warpgrind::checkers
