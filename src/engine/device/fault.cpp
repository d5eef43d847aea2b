// Faults and warnings of kernels: their places, texts and order.
#include "device/fault.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "device/module.h"
#include "device/stop_handler.h"

namespace warpgrind::device {

namespace {

const events::Site* site_of(const Launch& launch, std::uint32_t site) {
  const auto& sites = launch.kernel->code->facts().sites;
  return site < sites.size() ? &sites[site] : nullptr;
}

}  // namespace

Fault describe(const Launch& launch, FaultKind kind, std::uint32_t site) {
  Fault f;
  f.kind = kind;
  f.kernel = launch.kernel->demangled;
  const events::Site* s = site_of(launch, site);
  if (!s) return f;
  const events::KernelFacts& facts = launch.kernel->code->facts();
  if (s->function != facts.name) f.function = s->function;
  if (s->line && s->file < facts.files.size()) f.file = facts.files[s->file];
  f.line = s->line;
  f.ptx_line = s->ptx_line;
  f.ptx_text = s->text;
  f.callers = ptx::source_place(launch.module->module(), s->function, s->instruction).callers;
  return f;
}

void set_thread(Fault& fault, const jit::WarpContext& c, unsigned lane) {
  fault.block = {c.ctaid[0], c.ctaid[1], c.ctaid[2]};
  const std::uint32_t linear = c.warp * kWarpSize + lane;
  const std::uint32_t x = std::max(1u, c.ntid[0]), y = std::max(1u, c.ntid[1]);
  fault.thread = {linear % x, linear / x % y, linear / x / y};
}

namespace {

std::uint64_t order_of(std::uint64_t block, std::uint32_t warp) {
  return block * 64 + warp;
}

// Shows a fault to the debugger, while the warps still are where it happened.
void show(Launch& launch, const Fault& fault, std::uint64_t block, std::uint32_t warp) {
  WarpFiber* const at = (*launch.all_workers)[0]->current;
  const bool made_it = at && at->block && at->block_linear == block && at->context.warp == warp;
  launch.stops->faulted(launch, fault, made_it ? &at->context : nullptr);
}

void stop(Launch& launch) {
  launch.stop.store(true);
  launch.interrupt.store(kInterruptStop, std::memory_order_release);
}

// With shares, earlier blocks still run. With one cursor, nearly all of them have begun. `interrupt` is not set: loops
// would poll it slowly. A later block that has begun runs on, and the watchdog ends one that never ends.
void stop_from(Launch& launch, std::uint64_t block) {
  if (!launch.shares || launch.stop_reason.load() != 0) return stop(launch);
  std::uint64_t faulty = launch.faulty_block.load();
  while (block < faulty && !launch.faulty_block.compare_exchange_weak(faulty, block)) {
  }
}

}  // namespace

void record(Launch& launch, Fault fault, std::uint64_t block, std::uint32_t warp) {
  if (launch.stops && !launch.stop.load()) show(launch, fault, block, warp);
  {
    const std::lock_guard lock(launch.fault_mutex);
    const std::uint64_t order = order_of(block, warp);
    if (!launch.fault || launch.survived || order < launch.fault_order) {
      launch.fault = std::move(fault);
      launch.fault_order = order;
      launch.survived = false;
    }
  }
  stop_from(launch, block);
}

void keep_first(jit::WarpContext& context, std::uint32_t site, unsigned lane, std::uint64_t address,
                std::uint32_t bytes, const std::function<FaultText()>& text) {
  Launch& launch = launch_of(context);
  const std::uint64_t order = order_of(fiber_of(context).block_linear, context.warp);
  {
    const std::lock_guard lock(launch.fault_mutex);
    if (launch.fault && (!launch.survived || order >= launch.fault_order)) return;
  }
  FaultText said = text();
  Fault f = describe(launch, said.kind, site);
  set_thread(f, context, lane);
  f.message = std::move(said.message);
  f.advice = std::move(said.advice);
  f.address = address;
  f.bytes = bytes;
  const std::lock_guard lock(launch.fault_mutex);
  if (launch.fault && (!launch.survived || order >= launch.fault_order)) return;
  launch.fault = std::move(f);
  launch.fault_order = order;
  launch.survived = true;
}

void count_invalid(jit::WarpContext& context, std::uint32_t site) {
  Launch& launch = launch_of(context);
  bool too_many = ++launch.invalid_accesses > events::InvalidAccess::kMostAccesses;
  {
    const std::lock_guard lock(launch.fault_mutex);
    launch.invalid_sites.insert(site);
    too_many |= launch.invalid_sites.size() > events::InvalidAccess::kMostSites;
  }
  if (!too_many) return;
  stop(launch);
  leave_launch(worker_of(context));
}

void raise(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind, std::string message,
           std::string advice, std::uint64_t address, std::uint32_t bytes) {
  Launch& launch = launch_of(context);
  {
    Fault f = describe(launch, kind, site);
    set_thread(f, context, lane);
    f.message = std::move(message);
    f.advice = std::move(advice);
    f.address = address;
    f.bytes = bytes;
    record(launch, std::move(f), fiber_of(context).block_linear, context.warp);
  }
  // The frames of the fiber are never left, so the strings that they own are freed here.
  message = std::string();
  advice = std::string();
  leave_launch(worker_of(context));
}

namespace {

// The warning of this kind and site, and whether it is new; a new one has no text yet.
std::pair<Fault*, bool> warning_of(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind) {
  Worker& w = worker_of(context);
  const std::uint64_t key = std::uint64_t{site} << 8 | static_cast<std::uint8_t>(kind);
  const auto known = std::find(w.warned.begin(), w.warned.end(), key);
  if (known != w.warned.end()) return {&w.warnings[static_cast<std::size_t>(known - w.warned.begin())], false};
  w.warned.push_back(key);
  Fault f = describe(*w.launch, kind, site);
  set_thread(f, context, lane);
  w.warnings.push_back(std::move(f));
  return {&w.warnings.back(), true};
}

}  // namespace

void warn(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind, std::string message,
          std::string advice) {
  const auto [warning, is_new] = warning_of(context, site, lane, kind);
  if (!is_new) return;
  warning->message = std::move(message);
  warning->advice = std::move(advice);
}

void warn_at_end(Worker& w, std::uint32_t site, Dim3 block, Dim3 thread, FaultKind kind, std::string message,
                 std::string advice) {
  const std::uint64_t key = std::uint64_t{site} << 8 | static_cast<std::uint8_t>(kind);
  if (std::find(w.warned.begin(), w.warned.end(), key) != w.warned.end()) return;
  w.warned.push_back(key);
  Fault f = describe(*w.launch, kind, site);
  f.block = block;
  f.thread = thread;
  f.message = std::move(message);
  f.advice = std::move(advice);
  w.warnings.push_back(std::move(f));
}

FaultText stack_overflow_text(const char* what, std::uint64_t size, std::uint64_t needed) {
  return {FaultKind::stack_overflow,
          fmt::format("the stack of a thread is {} bytes (cudaLimitStackSize), but this {} needs {} or more", size,
                      what, needed),
          fmt::format("raise the limit with cudaDeviceSetLimit(cudaLimitStackSize, {}) or more; it holds for recursion "
                      "and alloca(), while calls of known depth always fit",
                      std::bit_ceil(needed))};
}

void count_went_on(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind, unsigned lanes,
                   const std::function<FaultText()>& text) {
  const auto [warning, is_new] = warning_of(context, site, lane, kind);
  warning->went_on += lanes;
  if (!is_new) return;
  FaultText said = text();
  warning->message = std::move(said.message);
  warning->advice = std::move(said.advice);
}

std::string place_of(const Launch& launch, const WarpFiber& fiber, std::uint32_t site, const char* what) {
  const jit::WarpContext& c = fiber.context;
  const events::Site* s = site_of(launch, site);
  std::string where = launch.kernel->demangled;
  const events::KernelFacts& facts = launch.kernel->code->facts();
  if (s && s->line && s->file < facts.files.size())
    where += fmt::format(" at {}:{}", facts.files[s->file], s->line);
  else if (s)
    where += fmt::format(" at PTX line {} ({})", s->ptx_line, s->text);
  return fmt::format("block ({},{},{}), warp {} (threads {}-{}): {} in {}", c.ctaid[0], c.ctaid[1], c.ctaid[2], c.warp,
                     c.warp * kWarpSize, std::min(launch.threads_per_block, (c.warp + 1) * kWarpSize) - 1, what, where);
}

FaultPlace fault_place(const Launch& launch, const WarpFiber& fiber, std::uint32_t site, LaneMask lanes,
                       std::string what) {
  Fault at = describe(launch, FaultKind::deadlock, site);
  set_thread(at, fiber.context, lanes ? static_cast<unsigned>(std::countr_zero(lanes)) : 0);
  FaultPlace p;
  p.what = std::move(what);
  p.function = std::move(at.function);
  p.file = std::move(at.file);
  p.callers = std::move(at.callers);
  p.ptx_text = std::move(at.ptx_text);
  p.line = at.line;
  p.ptx_line = at.ptx_line;
  p.block = at.block;
  p.thread = at.thread;
  p.warp = fiber.context.warp;
  p.lanes = lanes;
  return p;
}

std::string describe_address(const char* verb, std::uint64_t address, std::uint64_t bytes) {
  const AddressSpace& space = AddressSpace::instance();
  std::string text = fmt::format("{} of {} bytes at {:#x}", verb, bytes, address);
  if (const auto range = space.find(address))
    return text + fmt::format(" runs past the end of a {}-byte allocation", range->high - range->low);
  if (!space.inside_reserved(address)) return text + ", which is not device memory";
  if (const auto freed = space.freed(address))
    return text + fmt::format(" is {} bytes inside a {}-byte allocation that was freed{}", address - freed->range.low,
                              freed->range.high - freed->range.low, freed->by ? fmt::format(" by {}", freed->by) : "");
  const auto near = space.nearest(address);
  if (!near) return text + ": nothing is allocated";
  const std::uint64_t size = near->high - near->low;
  return text + fmt::format(" is {} a {}-byte allocation",
                            beside_text(static_cast<std::int64_t>(address - near->low), size), size);
}

std::string beside_text(std::int64_t offset, std::uint64_t size) {
  if (offset < 0) return fmt::format("{} bytes before the beginning of", -offset);
  const auto at = static_cast<std::uint64_t>(offset);
  if (at < size) return "across the end of";
  return at == size ? "just past the end of" : fmt::format("{} bytes past the end of", at - size);
}

std::string address_advice(std::uint64_t address) {
  const AddressSpace& space = AddressSpace::instance();
  if (!space.inside_reserved(address))
    return "a kernel can use host memory only if it is allocated with cudaMallocHost or cudaMallocManaged";
  return space.freed(address) ? "free the memory after the end of the last kernel that uses it"
                              : "check the index against the size of the allocation";
}

}  // namespace warpgrind::device
