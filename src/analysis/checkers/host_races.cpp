// Checker of races between the host and its own stream work. A kernel, a copy or a fill uses managed or pinned memory,
// and host code reads or writes the same bytes before it has waited for that work. With this checker, work runs when it
// is issued, so its bytes are known when the call returns. Pages that host code must not touch yet are watched
// (base/host_pages.h).
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/demangle.h"
#include "base/host_pages.h"
#include "base/words.h"
#include "checkers/checker.h"
#include "checkers/host_place.h"
#include "checkers/kernel_place.h"
#include "checkers/launch_states.h"
#include "checkers/stretches.h"
#include "checkers/touched_page.h"

namespace warpgrind::checkers {

namespace {

using results::Finding;
using results::FindingAccess;

constexpr std::uint64_t kPage = HostPages::kPage, kWord = 4;

struct Page : TouchedPage<kPage> {
  // Grids with flags only: moment of the last write to each word.
  std::unique_ptr<std::array<std::uint32_t, kPage / kWord>> moments;
};

// Memory that host and device can both use.
struct Common {
  std::uint64_t low = 0, high = 0;
  events::Allocation::Kind kind = events::Allocation::Kind::host;
  std::uint64_t watched_low = 0, watched_high = 0;  // whole pages
};
using Commons = std::map<std::uint64_t, Common>;  // by low

// A word that a thread has written so that the host can see it while the grid runs: volatile, or atomic at system
// scope.
struct Flag {
  std::uint32_t moment = 0;  // of the write
  std::uint32_t fenced = 0;  // the flag publishes its block's writes up to this moment
};

struct Use {
  std::uint64_t work = 0;
  std::unordered_map<std::uint64_t, Page> pages;  // by address / kPage
  std::map<std::uint32_t, FindingAccess> sites;   // by Toucher::number(); filled while the launch runs
  bool has_flags = false;
  std::uint32_t moment = 0;
  std::map<std::uint64_t, std::uint32_t> fences;   // by block: the moment of its last fence at system scope
  std::unordered_map<std::uint64_t, Flag> flags;   // by word
  std::uint32_t seen_moment = 0, seen_fenced = 0;  // newest, of the flags that the host has accessed

  // Records those bytes that lie in common memory. by: null if the work is not a grid.
  void touch(const Commons& commons, std::uint64_t address, std::uint64_t bytes, bool writes, const Toucher* by);
};

struct Issued {
  std::vector<std::uint64_t> after;
};

const Common* common_at(const Commons& commons, std::uint64_t address) {
  auto it = commons.upper_bound(address);
  if (it == commons.begin() || address >= (--it)->second.high) return nullptr;
  return &it->second;
}
bool any_common(const Commons& commons, std::uint64_t address, std::uint64_t bytes) {
  const auto next = commons.upper_bound(address + bytes - 1);
  return next != commons.begin() && std::prev(next)->second.high > address;
}

bool is_system(const events::Access& a) {
  return a.order != events::MemoryOrder::weak && a.scope == events::MemoryScope::system;
}

bool writes_flags(const events::Launch& launch) {
  return std::any_of(launch.facts->sites.begin(), launch.facts->sites.end(), [](const events::Site& s) {
    return s.scope == events::MemoryScope::system && s.order != events::MemoryOrder::weak && s.kind != SiteKind::load;
  });
}

template <class Do>
void each_page(std::uint64_t address, std::uint64_t bytes, Do&& act) {
  for (std::uint64_t at = address, end = address + bytes; at < end;) {
    const std::uint64_t next = std::min(end, (at / kPage + 1) * kPage);
    act(at / kPage, static_cast<std::uint16_t>(at % kPage), static_cast<std::uint16_t>((next - 1) % kPage));
    at = next;
  }
}

}  // namespace

class HostRaces final : public Checker {
 public:
  explicit HostRaces(const Known& known) : known_(known) {}
  ~HostRaces() override { HostPages::instance().want(false); }

  events::Wants wants() const override {
    events::Wants w;
    w.accesses = w.only_written = w.no_shared = w.host_memory = w.fences = w.stream_work = w.host_waits = true;
    w.host_copies = w.host_fills = w.allocations = w.deallocations = true;
    return w;
  }
  // A launch that began without common memory needs only the events outside kernels.
  events::Wants wants_of(const events::Launch& launch) override {
    events::Wants w = wants();
    const Running* const r = running_.find(launch);
    w.accesses = w.host_memory = r != nullptr;
    w.fences = r && r->use.has_flags;
    return w;
  }
  void on_allocation(const events::Allocation& a, unsigned) override;
  void on_deallocation(const events::Allocation& a, unsigned) override;
  void on_stream_work(const events::StreamWork& w, unsigned) override;
  void on_host_wait(const events::HostWait& w, unsigned) override;
  void on_launch_begin(const events::Launch& launch) override;
  void on_access(const events::Access& a, unsigned) override;
  bool on_affine_access(const events::AffineAccess& a, unsigned) override;
  void on_fence(const events::Fence& f, unsigned) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override;
  void on_host_copy(const events::HostCopy& c, unsigned) override;
  void on_host_fill(const events::HostFill& c, unsigned) override;
  void report(std::vector<Finding>& findings) override;
  void report_section(std::vector<Finding>& findings) override;

 private:
  // A running grid. With this checker one worker runs it (session/devices.cpp).
  struct Running {
    explicit Running(std::size_t sites) : has_place(sites * 2), rows(sites) {}
    Use use;
    std::shared_ptr<const Commons> commons;
    std::uint64_t version = 0;            // of `commons`
    std::vector<std::uint8_t> has_place;  // by Toucher::number(): Use::sites has it
    Rows<kPage> rows;
    auto toucher() {
      return [this](std::uint64_t address, std::uint64_t bytes, const Toucher& by) {
        use.touch(*commons, address, bytes, by.writes, &by);
      };
    }
    void note_place(const events::Access& a, const Toucher& by, unsigned lane) {
      const auto [place, fresh] = use.sites.try_emplace(static_cast<std::uint32_t>(by.number()));
      if (!fresh) return;
      place->second = checkers::access_at(*a.launch, a.site, a.block, a.warp, lane, verb_of(a.type));
      place->second.bytes = a.sizes ? 0 : a.bytes;
      if (by.number() < has_place.size()) has_place[by.number()] = true;
    }
  };
  Running* running(const events::Launch& launch);
  void look_again(Running& r);
  void changed() {
    shown_.reset();
    version_.fetch_add(1, std::memory_order_release);
  }
  template <class Moved>  // HostCopy, HostFill
  void add_rows(const Moved& m);
  void retire(std::uint64_t work);
  void add(std::uint64_t work, Use&& u);
  void guard(const Use& u);
  void guard_again();
  void look_at_touches();
  void look(const HostPages::Touch& touch);
  bool look(Use& u, const HostPages::Touch& touch);
  void found(const Use& u, const HostPages::Touch& touch, std::uint64_t address, bool too_narrow);
  FindingAccess access_of(const Use& u, std::uint64_t address, bool writes, bool in_kernel) const;

  Known known_;
  std::mutex mutex_;
  Commons common_;
  std::atomic<std::uint64_t> version_{0};  // of common_
  std::shared_ptr<const Commons> shown_;   // copy of common_ for launches; null: none of this version yet
  std::map<std::uint64_t, Issued> open_;   // work that the host has not waited for, by id
  std::map<std::uint64_t, Use> uses_;      // memory of the open work, by its id
  std::size_t pages_used_ = 0;
  LaunchStates<Running> running_;
  std::map<std::uint64_t, bool> guarded_;  // watched pages; true: the host may read them
  std::map<std::string, Finding> found_;
};

// ---- Memory that the host can use

void HostRaces::on_allocation(const events::Allocation& a, unsigned) {
  using Kind = events::Allocation::Kind;
  const bool variable = a.kind == Kind::variable && a.managed;
  if (a.kind != Kind::managed && a.kind != Kind::host && a.kind != Kind::registered && !variable) return;
  Common c;
  c.low = a.address;
  c.high = a.address + a.bytes;
  c.kind = variable ? Kind::managed : a.kind;
  // Registered memory may share its first and last page with other data of the program; these are not watched.
  const bool shares = a.kind == Kind::registered;
  c.watched_low = (shares ? c.low + kPage - 1 : c.low) / kPage * kPage;
  c.watched_high = (shares ? c.high : c.high + kPage - 1) / kPage * kPage;
  const std::lock_guard lock(mutex_);
  common_[c.low] = c;
  changed();
  HostPages::instance().want(true);
}

void HostRaces::on_deallocation(const events::Allocation& a, unsigned) {
  const std::lock_guard lock(mutex_);
  const auto it = common_.find(a.address);
  if (it == common_.end()) return;
  look_at_touches();
  common_.erase(it);
  changed();
  for (auto& [work, u] : uses_)
    std::erase_if(u.pages, [&](const auto& page) {
      return page.first * kPage + kPage > a.address && page.first * kPage < a.address + a.bytes;
    });
  guard_again();
  HostPages::instance().want(!common_.empty());
}

// ---- Bytes that work uses

void Use::touch(const Commons& commons, std::uint64_t address, std::uint64_t bytes, bool writes, const Toucher* by) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end;) {
    const Common* const c = common_at(commons, at);
    if (!c) {
      const auto next = commons.lower_bound(at);
      if (next == commons.end() || next->first >= end) return;
      at = next->first;
      continue;
    }
    const std::uint64_t last = std::min(end, c->high);
    each_page(at, last - at, [&](std::uint64_t number, std::uint16_t low, std::uint16_t high) {
      Page& page = pages[number];
      page.touch(low, high, writes, by);
      if (!by || !writes || !has_flags) return;
      if (!page.moments) page.moments = std::make_unique<std::array<std::uint32_t, kPage / kWord>>();
      for (std::size_t w = low / kWord; w <= high / kWord; ++w) (*page.moments)[w] = moment;
    });
    at = last;
  }
}

// Updates the launch's copy of common_.
void HostRaces::look_again(Running& r) {
  const std::lock_guard lock(mutex_);
  r.rows.settle(r.toucher());
  if (!shown_) shown_ = std::make_shared<const Commons>(common_);
  r.commons = shown_;
  r.version = version_.load(std::memory_order_relaxed);
}

HostRaces::Running* HostRaces::running(const events::Launch& launch) {
  Running* const r = running_.find(launch);
  if (r && r->version != version_.load(std::memory_order_acquire)) look_again(*r);
  return r;
}

void HostRaces::on_launch_begin(const events::Launch& launch) {
  {
    const std::lock_guard lock(mutex_);
    if (common_.empty()) return;
  }
  Running& r = running_.add(launch, std::make_unique<Running>(launch.facts->sites.size()));
  r.use.work = launch.work;
  r.use.has_flags = writes_flags(launch);
  look_again(r);
}

void HostRaces::on_access(const events::Access& a, unsigned) {
  if (a.mask == 0 || (a.space != StateSpace::global && a.space != StateSpace::texture)) return;
  Running* const r = running(*a.launch);
  if (!r) return;
  Use& u = r->use;
  const Toucher by{a.site, a.type != AccessType::load};
  if (!by.writes && is_system(a)) return;  // reads a flag, which the host may set at any time
  ++u.moment;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t at = a.addresses[l];
    if (!common_at(*r->commons, at)) continue;
    r->note_place(a, by, l);
    if (!by.writes || !is_system(a)) break;
    const std::uint32_t published = releases(a.order) ? u.moment : u.fences[linear_block(*a.launch, a.block)];
    u.flags[at / kWord] = {u.moment, published};
  }
  each_stretch(a, [&](std::uint64_t at, std::uint64_t bytes) { u.touch(*r->commons, at, bytes, by.writes, &by); });
}

bool HostRaces::on_affine_access(const events::AffineAccess& a, unsigned) {
  if (a.mask == 0 || a.space != StateSpace::global) return true;
  if (a.order != events::MemoryOrder::weak) return false;
  Running* const r = running(*a.launch);
  if (!r) return true;
  Use& u = r->use;
  const Toucher by{a.site, a.type != AccessType::load};
  const bool known = by.number() < r->has_place.size() && r->has_place[by.number()];
  bool fine = true;
  ++u.moment;
  each_stretch(a, [&](std::uint64_t at, std::uint64_t bytes) {
    if (!any_common(*r->commons, at, bytes)) return;
    fine &= known;  // false: on_access() is needed once, to record the place
    if (!known) return;
    if (u.has_flags || !r->rows.follows(at, bytes, by, r->toucher())) u.touch(*r->commons, at, bytes, by.writes, &by);
  });
  return fine;
}

void HostRaces::on_fence(const events::Fence& f, unsigned) {
  if (f.proxy || f.scope != events::MemoryScope::system) return;
  if (Running* const r = running_.find(*f.launch)) r->use.fences[linear_block(*f.launch, f.block)] = ++r->use.moment;
}

void HostRaces::on_launch_end(const events::Launch& launch, const events::LaunchCounts&) {
  const std::unique_ptr<Running> r = running_.take(launch);
  if (!r) return;
  r->rows.settle(r->toucher());
  const std::lock_guard lock(mutex_);
  add(r->use.work, std::move(r->use));
}

template <class Moved>
void HostRaces::add_rows(const Moved& m) {
  const std::lock_guard lock(mutex_);
  if (common_.empty()) return;
  Use u;
  u.work = m.work;
  each_stretch(m, [&](std::uint64_t address, std::uint64_t bytes, bool writes) {
    u.touch(common_, address, bytes, writes, nullptr);
  });
  add(m.work, std::move(u));
}

void HostRaces::on_host_copy(const events::HostCopy& c, unsigned) {
  add_rows(c);
}
void HostRaces::on_host_fill(const events::HostFill& f, unsigned) {
  add_rows(f);
}

// ---- Work that the host has waited for

void HostRaces::on_stream_work(const events::StreamWork& w, unsigned) {
  const std::lock_guard lock(mutex_);
  look_at_touches();
  // A host function runs after the work before it, and may notify the rest of the host. So that work counts as waited
  // for.
  if (w.kind == events::StreamWork::Kind::host_function)
    for (const std::uint64_t before : w.after) retire(before);
  if (common_.empty() && open_.empty()) return;
  open_[w.id] = {{w.after.begin(), w.after.end()}};
}

void HostRaces::retire(std::uint64_t work) {
  std::vector<std::uint64_t> next = {work};
  bool any = false;
  while (!next.empty()) {
    const auto it = open_.find(next.back());
    next.pop_back();
    if (it == open_.end()) continue;
    next.insert(next.end(), it->second.after.begin(), it->second.after.end());
    any |= uses_.erase(it->first) != 0;
    open_.erase(it);
  }
  if (any) guard_again();
}

void HostRaces::on_host_wait(const events::HostWait& w, unsigned) {
  const std::lock_guard lock(mutex_);
  look_at_touches();
  if (w.work != events::HostWait::kAll) return retire(w.work);
  std::vector<std::uint64_t> all;
  for (const auto& [id, i] : open_)
    if (const auto work = known_.works.find(id); !work || work->device == w.device) all.push_back(id);
  for (const std::uint64_t id : all) retire(id);
}

void HostRaces::add(std::uint64_t work, Use&& u) {
  constexpr std::size_t kMostPages = std::size_t{1} << 18;
  look_at_touches();
  if (u.pages.empty() || !open_.contains(work)) return;
  if (pages_used_ + u.pages.size() > kMostPages) return;
  pages_used_ += u.pages.size();
  guard(u);
  const auto known = uses_.find(work);
  if (known == uses_.end()) {
    uses_.emplace(work, std::move(u));
    return;
  }
  // Child grid of the same work: merge only its bytes, since site numbers belong to the parent's kernel.
  for (auto& [number, page] : u.pages) {
    Page& into = known->second.pages[number];
    into.read |= page.read;
    into.written |= page.written;
  }
}

// ---- Watched pages

void HostRaces::guard(const Use& u) {
  bool changed = false;
  for (const auto& [number, page] : u.pages) {
    std::uint64_t at = number * kPage;
    const auto above = common_.lower_bound(at + kPage);
    if (above == common_.begin()) continue;
    const Common& c = std::prev(above)->second;
    if (at < c.watched_low || at >= c.watched_high) continue;
    const bool readable = page.written.none();
    const auto [it, fresh] = guarded_.try_emplace(number, readable);
    changed |= fresh || (it->second && !readable);
    it->second = it->second && readable;
  }
  if (!changed) return;
  std::vector<HostPages::Run> runs;
  for (const auto& [number, readable] : guarded_) {
    const std::uint64_t at = number * kPage;
    if (!runs.empty() && runs.back().high == at && runs.back().readable == readable)
      runs.back().high = at + kPage;
    else
      runs.push_back({at, at + kPage, readable});
  }
  HostPages::instance().watch(std::move(runs));
}

void HostRaces::guard_again() {
  guarded_.clear();
  pages_used_ = 0;
  if (std::all_of(uses_.begin(), uses_.end(), [](const auto& u) { return u.second.pages.empty(); }))
    return HostPages::instance().watch({});
  HostPages::instance().watch({});
  for (const auto& [work, u] : uses_) {
    pages_used_ += u.pages.size();
    guard(u);
  }
}

// ---- Accesses of the host

void HostRaces::look_at_touches() {
  if (guarded_.empty()) return;
  for (const HostPages::Touch& t : HostPages::instance().take()) look(t);
}

void HostRaces::look(const HostPages::Touch& touch) {
  for (auto& [work, u] : uses_)
    if (look(u, touch)) return;
}

// True: a race. From a flag the host learns how far the grid is. Other bytes that the host then accesses must
// have been published by such a flag.
bool HostRaces::look(Use& u, const HostPages::Touch& touch) {
  std::optional<std::pair<std::uint64_t, bool>> race;  // address; true: published, but with too narrow a fence
  each_page(touch.address, touch.bytes, [&](std::uint64_t number, std::uint16_t low, std::uint16_t high) {
    const auto it = u.pages.find(number);
    if (it == u.pages.end()) return;
    const Page& page = it->second;
    for (unsigned k = low; k <= high; ++k) {
      const std::uint64_t address = number * kPage + k;
      const auto flag = u.flags.find(address / kWord);
      if (flag != u.flags.end()) {
        u.seen_moment = std::max(u.seen_moment, flag->second.moment);
        u.seen_fenced = std::max(u.seen_fenced, flag->second.fenced);
        continue;
      }
      if (race || !(page.written[k] || (touch.write && page.read[k]))) continue;
      if (!page.written[k] && u.seen_moment != 0) continue;  // the flag may mean that the grid has read it
      const std::uint32_t moment = page.moments ? (*page.moments)[k / kWord] : 0;
      if (moment != 0 && moment <= u.seen_fenced) continue;
      race = {address, moment != 0 && moment < u.seen_moment};
    }
  });
  if (race) found(u, touch, race->first, race->second);
  return race.has_value();
}

// in_kernel: returns the access inside the kernel; otherwise the stream work.
FindingAccess HostRaces::access_of(const Use& u, std::uint64_t address, bool writes, bool in_kernel) const {
  FindingAccess a;
  if (const auto work = known_.works.find(u.work)) a = checkers::access_of(*work);
  const auto page = u.pages.find(address / kPage);
  if (page == u.pages.end()) return a;
  for (const Page::By& t : page->second.touchers) {
    if (t.writes != writes || address % kPage < t.low || address % kPage > t.high) continue;
    const auto site = u.sites.find(static_cast<std::uint32_t>(t.number()));
    if (site == u.sites.end()) continue;
    if (in_kernel) {
      FindingAccess inside = site->second;
      inside.stream = a.stream;
      return inside;
    }
    const FindingAccess& s = site->second;
    a.object = fmt::format("{} in {} at {}", s.access, s.kernel, place_text(s));
    break;
  }
  return a;
}

namespace {

// Is the address in the C or C++ library? With installed debug information, its functions have lines too.
bool is_c_library(const void* pc) {
  Dl_info info{};
  if (!::dladdr(pc, &info) || !info.dli_fname) return false;
  const std::string name = base_name(info.dli_fname);
  return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("libm.so") ||
         name.starts_with("libstdc++.so");
}

// Innermost place of the access outside the C library.
jit::HostPlace place_of(const HostPages::Touch& touch) {
  jit::HostPlace first;
  for (unsigned k = 0; k < touch.caller_count; ++k) {
    if (k + 1 < touch.caller_count && is_c_library(touch.callers[k])) continue;
    const jit::HostPlace place = user_place({touch.callers[k]});
    if (place.line) return place;
    if (first.function.empty()) first = place;
  }
  return first;
}

}  // namespace

void HostRaces::found(const Use& u, const HostPages::Touch& touch, std::uint64_t address, bool too_narrow) {
  const auto page = u.pages.find(address / kPage);
  const bool writes = page->second.written[address % kPage];
  const Common* const c = common_at(common_, address);
  const bool managed = c && c->kind == events::Allocation::Kind::managed;
  Finding f;
  f.kind = too_narrow ? "race-scope" : managed ? "race-managed" : "race-host";
  f.accesses = {access_of(u, address, writes, too_narrow), FindingAccess{}};
  FindingAccess& host = f.accesses[1];
  const jit::HostPlace place = place_of(touch);
  host.access = touch.write ? "write" : "read";
  host.file = place.file;
  host.line = place.line;
  host.function = place.function.empty() ? "the host" : demangle(place.function);
  f.accesses[0].role = "first";
  host.role = "second";
  const std::uint64_t word = address / kWord * kWord;
  if (const auto object = known_.objects.live_at(address))
    host.object =
        describe(*object, std::max(word, object->address), std::min(kWord, object->address + object->bytes - word));
  take_place(f, f.accesses[0]);
  const std::string stream = f.accesses[0].stream;
  if (too_narrow) {
    f.message = "a kernel writes data for the host, but its fence does not order the writes for the host";
    f.missing =
        "__threadfence_system() between the write and the flag; __threadfence() orders writes only for this GPU";
  } else {
    f.message = fmt::format("the host {} memory that {} {}, without waiting for it", touch.write ? "writes" : "reads",
                            f.accesses[0].kernel.empty() ? f.accesses[0].access : f.accesses[0].kernel,
                            writes ? "writes" : "reads");
    f.missing = fmt::format(
        "before the host's access: cudaDeviceSynchronize(), cudaStreamSynchronize() of {}, or cudaEventSynchronize() "
        "of an event recorded after that work",
        stream.starts_with("a node") ? "the graph's stream" : stream);
  }
  const std::string key = fmt::format("{}|{}:{}|{}:{}|{}|{}", f.kind, f.file, f.line, host.file, host.line,
                                      f.accesses[0].kernel, f.accesses[0].access);
  const auto [it, fresh] = found_.try_emplace(key, std::move(f));
  if (!fresh) ++it->second.count;
}

void HostRaces::report(std::vector<Finding>& findings) {
  report_section(findings);
  const std::lock_guard lock(mutex_);
  uses_.clear();
  guard_again();
  HostPages::instance().want(false);
}

void HostRaces::report_section(std::vector<Finding>& findings) {
  const std::lock_guard lock(mutex_);
  look_at_touches();
  for (auto& [key, f] : found_) findings.push_back(std::move(f));
  found_.clear();
}

std::unique_ptr<Checker> make_host_races(const Known& known) {
  return std::make_unique<HostRaces>(known);
}

}  // namespace warpgrind::checkers
