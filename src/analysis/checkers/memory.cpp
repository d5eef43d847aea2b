// Checker of invalid accesses by kernels, and of invalid frees. One finding per instruction, kind and object. Its
// example is the first thread in the order of blocks and warps.
#include <fmt/format.h>
#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "base/words.h"
#include "checkers/checker.h"
#include "checkers/cluster_exits.h"
#include "checkers/host_place.h"
#include "checkers/kernel_place.h"
#include "ptx/ast.h"

namespace warpgrind::checkers {

namespace {

using events::InvalidAccess;
using Near = InvalidAccess::Object;
using Problem = InvalidAccess::Problem;

// Is the address in mapped host memory? (The caller has excluded memory that CUDA knows.)
bool is_mapped(std::uint64_t address) {
  constexpr std::uint64_t kPage = 4096;
  unsigned char page = 0;
  return ::mincore(reinterpret_cast<void*>(address / kPage * kPage), kPage, &page) == 0 || errno != ENOMEM;
}

constexpr std::uint64_t kLowest = std::uint64_t{1} << 32;  // lower addresses are null pointers, maybe with an index

// Object that an access should have stayed in.
struct Target {
  std::string text;   // "a 4096-byte allocation (cudaMalloc at main.cu:31)"
  std::string brief;  // "4096 bytes", "`tile`"
  std::uint64_t low = 0, high = 0;
  bool known = false;        // low and high are valid
  std::uint64_t object = 0;  // Object::number; 0: a variable of the kernel, or none
  bool freed = false, constant = false;
  std::optional<results::FindingOrigin> origin;
  std::optional<results::FindingCause> cause;
};

// Is the object the shared memory of another block of the cluster?
bool is_of_other_block(const InvalidAccess& e) {
  return e.object == Near::shared && e.space == StateSpace::shared && !e.origin && e.low != 0;
}

// The address in the terms of InvalidAccess::low. Offsets in shared and local memory wrap at 4 GiB.
std::uint64_t address_of(const InvalidAccess& e, unsigned lane) {
  const bool wraps = e.space == StateSpace::shared || e.space == StateSpace::local;
  return wraps ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(e.addresses[lane])})
               : e.addresses[lane];
}

std::string relation(const Target& t, std::uint64_t address, std::uint64_t bytes) {
  if (t.freed) return fmt::format("at offset {} of {}, which has been freed", address - t.low, t.text);
  const auto offset = static_cast<std::int64_t>(address - t.low), size = static_cast<std::int64_t>(t.high - t.low);
  const std::int64_t end = offset + static_cast<std::int64_t>(bytes);
  if (end <= 0) return fmt::format("{} bytes before the beginning of {}", -offset, t.text);
  if (offset == size) return fmt::format("just past the end of {}", t.text);
  if (offset > size) return fmt::format("{} bytes past the end of {}", offset - size, t.text);
  const auto inside = static_cast<std::uint64_t>(std::min(size, end) - std::max<std::int64_t>(offset, 0));
  if (inside < bytes) return fmt::format("of which only {} lie inside {}", inside, t.text);
  return fmt::format("at offset {} of {}", address - t.low, t.text);
}

std::string advice_of(const std::string& kind, AccessType type) {
  if (kind == "misaligned")
    return "align the pointer to the size of the access: vector types such as float4 need 16 bytes";
  if (kind == "null-pointer") return "check the error code of the allocation before using its pointer";
  if (kind == "host-pointer")
    return "a kernel can access only memory from cudaMalloc, cudaMallocManaged, cudaMallocHost or cudaHostRegister: "
           "copy the data there, or allocate it with one of these";
  if (kind == "use-after-free")
    return "free the memory after the last kernel that uses it, and do not use the pointer afterwards";
  if (kind == "write-to-constant")
    return "a kernel can only read __constant__ variables and its parameters; write to another variable";
  if (kind == "oob-neighbour")
    return "check the index against the size of the allocation; it is only by chance that another allocation lies "
           "there";
  if (kind.starts_with("oob-local")) return "check the index against the size of the thread's local array";
  if (kind == "wrong-space")
    return "asynchronous copies and mbarriers work only on global and shared memory; move the variable there";
  if (kind == "multimem-address")
    return "use multimem.ld_reduce, multimem.st or multimem.red on the addresses of a multicast object; for plain "
           "accesses map the memory of one GPU at another address (cuMemMap with the handle from cuMemCreate)";
  if (kind == "not-multimem")
    return "pass an address that cuMemMap has given to the multicast object, let cuMemSetAccess allow this GPU, and "
           "bind memory of every GPU to the whole range (cuMulticastBindMem)";
  return type == AccessType::load
             ? "check the index against the size before the read: guard the threads at the edge (if (i < n))"
             : "guard the threads at the edge (if (i < n)), or allocate enough memory for whole blocks";
}

class Memory final : public Checker {
 public:
  explicit Memory(const Known& known) : known_(known) {}

  events::Wants wants() const override {
    events::Wants w;
    w.invalid_accesses = w.heap_problems = w.invalid_frees = w.failed_allocations = true;
    return w;
  }
  void on_invalid_access(const InvalidAccess& e, unsigned) override;
  void on_heap_problem(const events::HeapProblem& e, unsigned) override;
  void on_invalid_free(const events::InvalidFree& e, unsigned) override;
  void on_failed_allocation(const events::FailedAllocation& e, unsigned) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override;
  void report(std::vector<results::Finding>& findings) override;

 private:
  // A finding that still collects accesses.
  struct Row {
    OrderKey first;
    results::Finding finding;
    std::uint64_t accesses = 0;
    std::map<std::uint64_t, std::uint64_t> running;  // by launch: accesses in it
    std::uint64_t launches = 0;
    bool ended = false;  // a launch was ended early: there may be more accesses
  };
  // Kernel, function and instruction; kind; object.
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::string, std::string>;
  // Determines the key within one launch, without texts.
  using Quick = std::tuple<std::uint64_t, std::uint32_t, Problem, AccessType, StateSpace, Near, std::uint64_t,
                           std::uint64_t, std::uint64_t>;

  Target target_of(const InvalidAccess& e, unsigned lane) const;
  Target memory_target(const InvalidAccess& e, std::uint64_t address) const;
  static Target variable_target(const InvalidAccess& e);
  std::string kind_of(const InvalidAccess& e, std::uint64_t address, const Target& target) const;
  results::Finding finding_of(const InvalidAccess& e, unsigned lane) const;
  Row& row_of(const events::WarpEvent& e, const results::Finding& finding, const std::string& object);
  void name_cause(Row& row) const;
  void note_launch(results::Finding& finding, const events::Launch& launch) const;

  const Known known_;
  mutable std::mutex mutex_;
  std::map<Key, Row> rows_;
  std::map<Quick, Row*> quick_;
  struct LaunchState {
    std::uint64_t events = 0;
    std::set<std::uint32_t> sites;
  };
  std::map<std::uint64_t, LaunchState> launches_;  // running
  struct NoRoom {
    OrderKey order_key;
    results::FindingAccess at;
    std::uint64_t bytes = 0;
  };
  std::map<std::uint64_t, NoRoom> no_room_;      // by work: the first malloc that returned null
  std::optional<results::FindingCause> failed_;  // the last failed allocation of the host
  std::vector<results::Finding> of_host_;
};

OrderKey order_key_of(const events::WarpEvent& e, unsigned lane) {
  return {e.launch->work, e.launch->id, linear_block(*e.launch, e.block), e.warp, lane};
}

// ---- Targets and texts

Target Memory::variable_target(const InvalidAccess& e) {
  Target t;
  t.low = e.low;
  t.high = e.high;
  t.known = true;
  const bool shared = e.object == Near::shared;
  const std::uint64_t bytes = e.high - e.low;
  if (e.object == Near::parameters) {
    t.text = fmt::format("the kernel's parameters ({} bytes)", bytes);
    t.constant = true;
  } else if (is_of_other_block(e)) {
    t.text = fmt::format("the shared memory of another block of the cluster ({} bytes)", bytes);
  } else if (!e.origin) {
    t.text = shared ? fmt::format("the block's shared memory ({} bytes)", bytes)
                    : fmt::format("the thread's local memory ({} bytes)", bytes);
  } else if (e.origin->kind == events::AddressOrigin::Kind::dynamic_shared) {
    t.text = fmt::format("`{}` (dynamic shared memory, {} bytes in this launch)", plain_name(e.origin->name), bytes);
  } else if (shared) {
    t.text = fmt::format("`{}` ({} bytes of shared memory)", plain_name(e.origin->name), bytes);
  } else {
    t.text = fmt::format("the function's local arrays ({} bytes)", bytes);
  }
  t.brief = e.origin && shared ? fmt::format("`{}`", plain_name(e.origin->name)) : t.text;
  t.origin = results::FindingOrigin{shared ? "shared variable" : "local memory", "", 0, t.text, {}};
  return t;
}

Target Memory::memory_target(const InvalidAccess& e, std::uint64_t address) const {
  Target t;
  const bool was_freed = e.object == Near::freed || e.object == Near::freed_piece;
  std::optional<Object> object = was_freed ? known_.objects.freed_at(e.low) : known_.objects.live_at(e.low);
  if (e.object == Near::none) {
    object = known_.objects.freed_at(address);
    if (object) t.freed = true;
  }
  if (e.object == Near::none && !object) return t;
  t.known = true;
  t.freed |= was_freed;
  t.object = object ? object->number : 0;
  t.low = object ? object->address : e.low;
  t.high = object ? object->address + object->bytes : e.high;
  t.brief =
      object && !object->name.empty() ? fmt::format("`{}`", object->name) : fmt::format("{} bytes", t.high - t.low);
  if (e.object == Near::heap)
    t.text = "the device heap, at an address that malloc has not returned";
  else
    t.text = object ? describe(*object) : fmt::format("a {}-byte allocation", e.high - e.low);
  if (!object) return t;
  t.origin = origin_of(*object);
  if (object->freed) {
    const jit::HostPlace place = user_place(object->freed->callers);
    t.cause = results::FindingCause{place.file, place.line, fmt::format("freed by {}", describe(*object->freed))};
  } else if (object->freed_by) {
    t.cause = results::FindingCause{object->freed_by->file, object->freed_by->line,
                                    fmt::format("freed at {}", place_text(*object->freed_by))};
  }
  return t;
}

Target Memory::target_of(const InvalidAccess& e, unsigned lane) const {
  if (e.object == Near::shared || e.object == Near::local || e.object == Near::parameters) return variable_target(e);
  Target t = memory_target(e, e.addresses[lane]);
  using Kind = events::AddressOrigin::Kind;
  if (e.space == StateSpace::constant) t.constant = true;
  if (e.origin && e.origin->kind == Kind::variable && e.launch->module &&
      e.origin->index < e.launch->module->variables.size())
    t.constant |= e.launch->module->variables[e.origin->index].space == StateSpace::constant;
  return t;
}

std::string Memory::kind_of(const InvalidAccess& e, std::uint64_t address, const Target& target) const {
  const std::string verb = verb_of(e.type);
  switch (e.problem) {
    case Problem::misaligned:
      return "misaligned";
    case Problem::constant:
      return "write-to-constant";
    case Problem::wrong_space:
      return "wrong-space";
    case Problem::multimem_address:
      return "multimem-address";
    case Problem::no_multimem:
      return "not-multimem";
    default:
      break;
  }
  if (e.object == Near::shared) return "oob-shared-" + verb;
  if (e.object == Near::local) return "oob-local-" + verb;
  if (target.freed) return "use-after-free";
  if (target.constant) return "oob-constant-" + verb;
  if (e.problem == Problem::neighbour) return "oob-neighbour";
  if (e.object != Near::none) return "oob-global-" + verb;
  if (is_mapped(address)) return "host-pointer";
  return address < kLowest ? "null-pointer" : "oob-global-" + verb;
}

// nullopt if the target is unknown: a host address is meaningless and differs from run to run.
std::optional<results::AccessedMemory> memory_of(const InvalidAccess& e, std::uint64_t address, const Target& target) {
  if (!target.known && address >= kLowest) return std::nullopt;
  const char* const space = e.object == Near::shared ? "shared" : e.object == Near::local ? "local" : "global";
  return results::AccessedMemory{space, target.object, target.high - target.low,
                                 static_cast<std::int64_t>(address - target.low)};
}

std::uint32_t alignment_of(const InvalidAccess& e) {
  constexpr std::uint32_t kBulk = 16;  // PTX ISA, cp.async.bulk
  const bool bulk = e.path == events::AccessPath::bulk_copy || (e.path == events::AccessPath::multimem && e.sizes);
  return bulk ? kBulk : e.bytes;
}

std::string argument_text(const InvalidAccess& e) {
  if (!e.origin || e.origin->kind != events::AddressOrigin::Kind::parameter) return "";
  const std::string& name = e.origin->name;
  const std::string number = fmt::format("argument {}", e.origin->index + 1);
  return name.find("_param_") == std::string::npos ? fmt::format("{} (`{}`)", number, name) : number;
}

void Memory::note_launch(results::Finding& f, const events::Launch& launch) const {
  const std::optional<Work> work = known_.works.find(launch.work);
  if (!work) return;
  const results::FindingAccess call = access_of(*work);
  if (call.line != 0) f.notes.push_back(fmt::format("launched at {}", place_text(call)));
}

results::Finding Memory::finding_of(const InvalidAccess& e, unsigned lane) const {
  const std::uint64_t address = address_of(e, lane);
  const std::uint32_t bytes = e.bytes_of(lane);
  const Target target = target_of(e, lane);
  results::Finding f;
  f.kind = kind_of(e, address, target);
  results::FindingAccess at = access_at(e, lane, verb_of(e.type));
  at.bytes = bytes;
  std::string where = relation(target, address, bytes);
  const bool of_ended_block = is_of_other_block(e) && f.kind != "misaligned" && where.starts_with("at offset");
  if (of_ended_block) where += ", which has ended";
  at.memory = memory_of(e, address, target);
  if (target.known)
    at.object = fmt::format("offset {} of {}", static_cast<std::int64_t>(address - target.low), target.brief);
  const std::string what = at.access + " of " + counted(bytes, "byte");
  const std::string argument = argument_text(e);
  constexpr std::uint64_t kFarFromNull = std::uint64_t{1} << 24;  // 16 MiB
  const std::string through = argument.empty() ? "" : fmt::format(" through {}", argument);
  if (f.kind == "multimem-address")
    f.message = fmt::format("{}{} at a multimem address, by an instruction that is not multimem", what, through);
  else if (f.kind == "not-multimem")
    f.message =
        fmt::format("multimem {}{}, where no multicast object with memory of every GPU is mapped", what, through);
  else if (f.kind == "null-pointer")
    f.message = fmt::format(
        "{} at {:#x}{}: {}", what, address, through,
        address < kFarFromNull ? "a null pointer" : "a large index on a null pointer, or not a pointer at all");
  else if (f.kind == "host-pointer")
    f.message = fmt::format("{}{} to host memory that a kernel cannot access", what, through);
  else if (!target.known)
    f.message = fmt::format("{}{} at an address that belongs to no allocation", what, through);
  else if (f.kind == "misaligned")
    f.message =
        fmt::format("{}{}, at an address that is not a multiple of {}, {}", what, through, alignment_of(e), where);
  else if (f.kind == "wrong-space")
    f.message = e.path == events::AccessPath::bulk_store ? fmt::format("{} outside shared memory, by st.bulk", what)
                                                         : fmt::format("{} on local memory", what);
  else
    f.message =
        fmt::format("{}{}{} {}", what, through, through.empty() && !where.starts_with("of which") ? "" : ",", where);
  if (e.problem == Problem::neighbour && e.hit != 0)
    if (const auto hit = known_.objects.live_at(e.hit)) f.message += fmt::format(", inside {}", describe(*hit));
  const auto object = target.known ? known_.objects.live_at(e.low) : std::nullopt;
  if (e.origin && e.origin->kind == events::AddressOrigin::Kind::dynamic_shared && e.low == e.high)
    f.advice = "pass the size of dynamic shared memory in bytes as the third launch parameter; it is 0 here";
  else if (of_ended_block)
    f.advice = "let no block end before the last access of the others: end the kernel with cluster.sync()";
  else if (object && object->made.call == "cudaMallocPitch" && f.kind.starts_with("oob-"))
    f.advice = "guard the threads at the edge; the pitch is in bytes: row y begins at (float*)((char*)p + y * pitch)";
  else
    f.advice = advice_of(f.kind, e.type);
  f.origin = target.origin;
  f.cause = target.cause;
  take_place(f, at);
  f.accesses.push_back(std::move(at));
  note_launch(f, *e.launch);
  return f;
}

// ---- Events

Memory::Row& Memory::row_of(const events::WarpEvent& e, const results::Finding& f, const std::string& object) {
  const events::KernelFacts& facts = *e.launch->facts;
  const bool known = e.site < facts.sites.size();
  const Key key{facts.name, known ? facts.sites[e.site].function : "", known ? facts.sites[e.site].instruction : e.site,
                f.kind, object};
  return rows_.try_emplace(key).first->second;
}

void Memory::on_invalid_access(const InvalidAccess& e, unsigned) {
  if (is_of_ended_block(e)) return;  // cluster_exits.cpp reports these
  const auto lane = static_cast<unsigned>(std::countr_zero(e.mask));
  const OrderKey order_key = order_key_of(e, lane);
  const auto lanes = static_cast<std::uint64_t>(std::popcount(e.mask));
  std::unique_lock lock(mutex_);
  LaunchState& state = launches_[e.launch->id];
  ++state.events;
  state.sites.insert(e.site);
  // Without an object nearby, each lane's address may mean something else. The first lane represents all.
  const std::uint64_t page = e.object == Near::none ? e.addresses[lane] >> 32 : 0;
  const Quick quick{e.launch->id, e.site, e.problem, e.type, e.space, e.object, e.low, e.high, page + e.hit};
  Row*& row = quick_[quick];
  if (row && !(order_key < row->first)) {
    row->running[e.launch->id] += lanes;
    return;
  }
  results::Finding finding = finding_of(e, lane);
  const std::string object = finding.origin ? finding.origin->object : "";
  if (!row) row = &row_of(e, finding, object);
  const bool fresh = row->finding.kind.empty();
  if (fresh || order_key < row->first) {
    row->finding = std::move(finding);
    row->first = order_key;
    if (row->finding.kind == "null-pointer") name_cause(*row);
  }
  row->running[e.launch->id] += lanes;
  if (!fresh || !announces()) return;
  finding = row->finding;
  lock.unlock();
  announce(e.launch->id, finding);
}

// A null pointer is taken to come from a failed allocation.
void Memory::name_cause(Row& row) const {
  const auto room = no_room_.find(row.first.work);
  if (room != no_room_.end())
    row.finding.cause = results::FindingCause{
        room->second.at.file, room->second.at.line,
        fmt::format("malloc returned null for {} bytes: the device heap is full", room->second.bytes)};
  else
    row.finding.cause = failed_;
}

void Memory::on_heap_problem(const events::HeapProblem& e, unsigned) {
  const auto lane = static_cast<unsigned>(std::countr_zero(e.mask));
  const OrderKey order_key = order_key_of(e, lane);
  using Kind = events::HeapProblem::Kind;
  if (e.kind == Kind::no_room) {
    results::FindingAccess at = access_at(e, lane, "malloc");
    const std::lock_guard lock(mutex_);
    const auto [it, fresh] = no_room_.try_emplace(e.launch->work, NoRoom{order_key, at, e.bytes});
    if (!fresh && order_key < it->second.order_key) it->second = {order_key, std::move(at), e.bytes};
    return;
  }
  results::Finding f;
  results::FindingAccess at = access_at(e, lane, "free");
  take_place(f, at);
  at.role = "second";
  const std::optional<Object> object = known_.objects.freed_at(e.address);
  if (e.kind == Kind::freed_before) {
    f.kind = "double-free";
    f.message = "double free: a kernel frees memory that a kernel has already freed";
    if (object) f.message = fmt::format("double free of {}", describe(*object));
    f.advice = "if threads share memory, let one thread free it, after its last use by any of them";
    at.object = object ? describe(*object) : "";
    f.accesses.push_back(std::move(at));
    if (object && object->freed_by) {
      results::FindingAccess before = *object->freed_by;
      before.role = "first";
      f.accesses.push_back(std::move(before));
    }
    if (object) f.origin = origin_of(*object);
  } else {
    f.kind = "invalid-free";
    const std::optional<Object> live = known_.objects.live_at(e.address);
    f.message = live ? fmt::format("free of an address {} bytes into {}", e.address - live->address, describe(*live))
                     : fmt::format("free of {:#x}, which malloc in a kernel did not return", e.address);
    f.advice =
        "call free only with pointers that malloc returned in a kernel; memory from cudaMalloc is freed by the host";
    at.role.clear();
    f.accesses.push_back(std::move(at));
    if (live) f.origin = origin_of(*live);
  }
  note_launch(f, *e.launch);
  std::unique_lock lock(mutex_);
  Row& row = row_of(e, f, f.origin ? f.origin->object : "");
  const bool fresh = row.finding.kind.empty();
  if (fresh || order_key < row.first) {
    row.finding = f;
    row.first = order_key;
  }
  row.running[e.launch->id] += 1;
  lock.unlock();
  if (fresh) announce(e.launch->id, f);
}

void Memory::on_invalid_free(const events::InvalidFree& e, unsigned) {
  const HostStack stack = host_stack();
  results::Finding f;
  results::FindingAccess at = host_access(stack, /*always_function=*/true);
  at.access = e.by;
  f.file = at.file;
  f.line = at.line;
  const std::optional<Object> live = known_.objects.live_at(e.address), freed = known_.objects.freed_at(e.address);
  f.kind = "invalid-free";
  f.advice = "free each allocation once, with the pointer that it returned and the function that belongs to it";
  if (live && live->address == e.address) {
    f.message = fmt::format("{} of {}: this function does not free that kind of memory", e.by, describe(*live));
    f.origin = origin_of(*live);
  } else if (live) {
    f.message = fmt::format("{} of an address {} bytes into {}", e.by, e.address - live->address, describe(*live));
    f.origin = origin_of(*live);
  } else if (freed && freed->address == e.address && freed->freed) {
    f.kind = "double-free";
    f.message = fmt::format("{} of {}, which was already freed (double free)", e.by, describe(*freed));
    f.origin = origin_of(*freed);
    const jit::HostPlace by = user_place(freed->freed->callers);
    f.cause = results::FindingCause{by.file, by.line, fmt::format("freed by {}", describe(*freed->freed))};
    f.advice = "set the pointer to nullptr after freeing it; freeing nullptr does nothing";
  } else {
    f.message = fmt::format("{} of a pointer that no allocation returned", e.by);
  }
  if (f.origin) at.object = f.origin->object;
  f.accesses.push_back(std::move(at));
  std::unique_lock lock(mutex_);
  for (results::Finding& before : of_host_)
    if (before.kind == f.kind && before.file == f.file && before.line == f.line && f.line != 0) {
      ++before.count;
      return;
    }
  of_host_.push_back(f);
  lock.unlock();
  announce(kNoLaunch, f);
}

void Memory::on_failed_allocation(const events::FailedAllocation& e, unsigned) {
  const HostStack stack = host_stack();
  const jit::HostPlace place = user_place(stack.callers);
  const std::lock_guard lock(mutex_);
  failed_ = results::FindingCause{place.file, place.line, fmt::format("{} failed: {} bytes", describe(stack), e.bytes)};
}

void Memory::on_launch_end(const events::Launch& launch, const events::LaunchCounts&) {
  const std::lock_guard lock(mutex_);
  const auto state = launches_.find(launch.id);
  const bool ended = state != launches_.end() && (state->second.events > InvalidAccess::kMostAccesses ||
                                                  state->second.sites.size() > InvalidAccess::kMostSites);
  if (state != launches_.end()) launches_.erase(state);
  for (auto& [key, row] : rows_) {
    const auto running = row.running.find(launch.id);
    if (running == row.running.end()) continue;
    // The number of accesses before an early end depends on the workers' timing, so it is not reported.
    row.accesses += ended ? 1 : running->second;
    row.ended |= ended;
    ++row.launches;
    row.running.erase(running);
  }
  std::erase_if(quick_, [&](const auto& q) { return std::get<0>(q.first) == launch.id; });
}

void Memory::report(std::vector<results::Finding>& findings) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, row] : rows_) {
    for (const auto& [launch, accesses] : row.running) row.accesses += accesses;  // launches that never ended
    results::Finding f = row.finding;
    f.count = row.accesses;
    if (row.ended)
      f.notes.push_back(fmt::format("a launch was stopped after {} invalid accesses; there may be more",
                                    InvalidAccess::kMostAccesses));
    else if (row.accesses > 1)
      f.notes.push_back(fmt::format("{} such accesses by threads{}", row.accesses,
                                    row.launches > 1 ? fmt::format(" in {} launches", row.launches) : ""));
    findings.push_back(std::move(f));
  }
  findings.insert(findings.end(), of_host_.begin(), of_host_.end());
  quick_.clear();
  rows_.clear();
  of_host_.clear();
}

}  // namespace

std::unique_ptr<Checker> make_memory(const Known& known);
std::unique_ptr<Checker> make_memory(const Known& known) {
  return std::make_unique<Memory>(known);
}

}  // namespace warpgrind::checkers
