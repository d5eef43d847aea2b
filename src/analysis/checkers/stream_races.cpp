// Checker of races between work of different streams, or of branches of a graph. Two grids, copies or fills race if
// they touch the same bytes, at least one writes, and no event, stream or host wait orders them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "checkers/checker.h"
#include "checkers/kernel_place.h"
#include "checkers/launch_states.h"
#include "checkers/stretches.h"
#include "checkers/touched_page.h"
#include "ptx/ast.h"

namespace warpgrind::checkers {

namespace {

using results::Finding;
using results::FindingAccess;

constexpr std::uint64_t kPageBytes = 4096, kWordBytes = 4;
constexpr std::size_t kPageWords = kPageBytes / kWordBytes;

// atomic: one that all blocks of the device see; swap: a compare-and-swap of this kind.
enum class Way : std::uint8_t { plain, atomic, swap };
struct FootprintPage : TouchedPage<kPageWords> {
  Bits<kPageWords> read_plainly, written_plainly, swapped;
  // Words touched not only by atomics. "old = *p; do { old = atomicCAS(p, old, ...) } ...": the first read may return
  // any value, so it does not count.
  Bits<kPageWords> plain() const { return written_plainly | (read_plainly & ~swapped); }
};
// First word that both touch, where at least one writes, and that not only atomics touch; kPageWords: none.
std::size_t conflict(const FootprintPage& a, const FootprintPage& b) {
  return (((a.written & (b.read | b.written)) | (a.read & b.written)) & (a.plain() | b.plain())).first();
}
class Footprint : public std::unordered_map<std::uint64_t, FootprintPage> {
 public:
  FootprintPage& page(std::uint64_t number) {
    if (lately_.empty()) lately_.resize(kLately);
    Lately& l = lately_[number % kLately];
    if (!l.page || l.number != number) l = {number, &(*this)[number]};
    return *l.page;
  }

 private:
  static constexpr std::size_t kLately = 64;  // enough for the rows of a tile, each in its own page
  struct Lately {
    std::uint64_t number = 0;
    FootprintPage* page = nullptr;
  };
  std::vector<Lately> lately_;  // direct-mapped cache of recent pages
};

// by, place: as in TouchedPage::touch().
void touch(Footprint& f, std::uint64_t address, std::uint64_t bytes, bool write, const Toucher* by,
           Way way = Way::plain, std::uint32_t* place = nullptr) {
  if (bytes == 0) return;
  const std::uint64_t last = (address + bytes - 1) / kWordBytes;
  for (std::uint64_t word = address / kWordBytes; word <= last;) {
    const std::uint64_t first_here = word % kPageWords;
    const std::uint64_t last_here = std::min<std::uint64_t>(kPageWords - 1, first_here + (last - word));
    FootprintPage& page = f.page(word / kPageWords);
    page.touch(first_here, last_here, write, by, place);
    if (way == Way::plain) (write ? page.written_plainly : page.read_plainly).set(first_here, last_here);
    if (way == Way::swap) page.swapped.set(first_here, last_here);
    word += last_here - first_here + 1;
  }
}

// Touches words that lie apart in one page. False: they do not, or lanes touch parts of words.
bool touch_apart(Footprint& f, const events::AffineAccess& a, const Toucher& by, std::uint32_t* place) {
  if (a.bytes % kWordBytes != 0 || a.base % kWordBytes != 0 || a.kx % std::int64_t{kWordBytes} != 0 ||
      a.ky % std::int64_t{kWordBytes} != 0 || a.kx == 0 || a.kx == std::int64_t{a.bytes})
    return false;
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  std::uint16_t words[kWarpSize];
  unsigned count = 0;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const std::uint64_t word = a.address(static_cast<unsigned>(std::countr_zero(m))) / kWordBytes;
    low = std::min(low, word);
    high = std::max(high, word);
    words[count++] = static_cast<std::uint16_t>(word % kPageWords);
  }
  const std::uint64_t width = a.bytes / kWordBytes, number = low / kPageWords;
  if (number != (high + width - 1) / kPageWords) return false;
  FootprintPage& page = f.page(number);
  Bits<kPageWords>& touched = by.writes ? page.written : page.read;
  Bits<kPageWords>& plainly = by.writes ? page.written_plainly : page.read_plainly;
  for (unsigned k = 0; k < count; ++k) {
    touched.set(words[k], words[k] + width - 1);
    plainly.set(words[k], words[k] + width - 1);
  }
  page.note(low % kPageWords, high % kPageWords + width - 1, by, place);
  return true;
}

struct IssuedWork {
  std::uint64_t id = 0;
  events::StreamWork::Kind kind = events::StreamWork::Kind::mark;
  std::uint64_t stream = events::StreamWork::kNoStream;
  int device = 0;
  std::vector<std::uint64_t> after;
  std::vector<std::uint64_t> overlaps;           // grids that may still run when this one begins
  bool starts_early = false;                     // a grid that lets its dependents begin before its own wait
  std::uint64_t known_from = ~std::uint64_t{0};  // work from this id on was issued after the host knew the end
  bool node() const { return stream == events::StreamWork::kNoStream; }
};

struct Done {
  std::uint64_t work = 0;
  Footprint footprint;
  // Grids that may begin before the previous one has ended: the footprint before griddepcontrol.wait.
  Footprint before_wait;
  std::uint32_t wait = 0;  // its position in the kernel's body; 0: the whole grid runs after the previous one
  // Grids: places by Toucher::number(), filled while the launch runs.
  std::map<std::uint32_t, FindingAccess> sites;
  std::vector<std::uint32_t> places;  // by Toucher::number(), in `footprint`

  void touch(std::uint64_t address, std::uint64_t bytes, const Toucher& by, bool early, Way way = Way::plain) {
    const std::size_t number = by.number();
    checkers::touch(footprint, address, bytes, by.writes, &by, way, number < places.size() ? &places[number] : nullptr);
    if (early) checkers::touch(before_wait, address, bytes, by.writes, &by, way);
  }
  auto toucher() {
    return [this](std::uint64_t address, std::uint64_t bytes, const Toucher& by) { touch(address, bytes, by, false); };
  }
};

// A running grid. With this checker one worker runs it (session/devices.cpp).
struct Running {
  explicit Running(std::size_t sites) : has_place(sites * 2), rows(sites), last(sites * 2) {
    done.places.resize(sites * 2);
  }
  Done done;
  std::vector<std::uint8_t> has_place;  // by Toucher::number(): Done::sites has it
  Rows<kPageBytes> rows;
  // By Toucher::number(): the last affine access. Its repetition touches nothing new.
  struct Last {
    std::uint64_t base = 0;
    std::int64_t kx = 0, ky = 0;
    LaneMask mask = 0;
    bool operator==(const Last&) const = default;
  };
  std::vector<Last> last;
};

// Position of the kernel's first griddepcontrol with this action. ~0: it has none; 0: unknown (in a function that it
// may call).
std::uint32_t position_of(const events::Launch& launch, ptx::Modifier action) {
  if (!launch.module) return 0;
  std::uint32_t first = ~0u;
  for (const ptx::Function& f : launch.module->functions)
    for (std::uint32_t k = 0; k < f.body.size(); ++k) {
      const ptx::Instruction& i = f.body[k];
      if (i.opcode != ptx::Opcode::griddepcontrol || !i.has(action)) continue;
      if (f.name == launch.facts->name)
        first = std::min(first, k);
      else if (!f.is_entry)
        return 0;
    }
  return first;
}

// Two atomics to one word are no race, in whatever order they come (PTX's memory model: morally strong).
Way way_of(const events::Access& a) {
  const bool atomic = a.type == AccessType::atomic || a.type == AccessType::reduction;
  if (!atomic || (a.scope != events::MemoryScope::gpu && a.scope != events::MemoryScope::system)) return Way::plain;
  const std::vector<events::Site>& sites = a.launch->facts->sites;
  return a.site < sites.size() && sites[a.site].shared_atomic == SharedAtomic::swap ? Way::swap : Way::atomic;
}

bool comes_early(const Done& d, const events::Launch& launch, std::uint32_t site) {
  const std::vector<events::Site>& sites = launch.facts->sites;
  if (d.wait == 0 || site >= sites.size()) return false;
  return d.wait == ~0u || (sites[site].function == launch.facts->name && sites[site].instruction < d.wait);
}

}  // namespace

class StreamRaces final : public Checker {
 public:
  explicit StreamRaces(const Known& known) : known_(known) {}

  events::Wants wants() const override {
    events::Wants w;
    w.accesses = w.only_written = w.no_shared = w.stream_work = w.host_waits = w.host_copies = w.host_fills = true;
    return w;
  }
  // Reads of memory that the launch only reads are needed as soon as other work may write it at the same time.
  events::Wants wants_of(const events::Launch&) override {
    events::Wants w = wants();
    const std::lock_guard lock(mutex_);
    w.only_written = !several_;
    return w;
  }
  void on_stream_work(const events::StreamWork& w, unsigned) override;
  void on_host_wait(const events::HostWait& w, unsigned) override;
  void on_launch_begin(const events::Launch& launch) override;
  void on_access(const events::Access& a, unsigned) override;
  bool on_affine_access(const events::AffineAccess& a, unsigned) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts&) override;
  void on_host_copy(const events::HostCopy& c, unsigned) override;
  void on_host_fill(const events::HostFill& c, unsigned) override;
  void report(std::vector<Finding>& findings) override;

 private:
  bool ordered(std::uint64_t first, std::uint64_t second) const;
  void retire(std::uint64_t work);
  template <class Moved>  // HostCopy, HostFill
  void compare_rows(const Moved& m) {
    Done d;
    d.work = m.work;
    each_stretch(m, [&](std::uint64_t address, std::uint64_t bytes, bool writes) {
      touch(d.footprint, address, bytes, writes, nullptr);
    });
    const std::lock_guard lock(mutex_);
    compare(std::move(d));
  }
  void note_overlaps(const events::Launch& launch, IssuedWork& work, Done& done);
  void compare(Done&& done);
  void found(const Done& a, const Done& b, std::uint64_t page, std::size_t word, bool early);
  FindingAccess access_of(const Done& d, std::uint64_t page, std::size_t word, bool writes) const;
  void forget_old();

  Known known_;
  std::mutex mutex_;
  std::map<std::uint64_t, IssuedWork> issued_;
  std::uint64_t last_issued_ = 0;
  std::map<int, std::vector<std::uint64_t>> not_waited_for_;  // by device: issued since the host's last wait for all
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> last_of_;  // by device and stream
  bool several_ = false;                                            // several streams or graph nodes were used
  LaunchStates<Running> running_;
  std::deque<Done> done_;  // ended work that may still race with other work
  std::map<std::string, Finding> found_;
};

void StreamRaces::on_stream_work(const events::StreamWork& w, unsigned) {
  const std::lock_guard lock(mutex_);
  several_ |= w.stream != 0 || w.early;
  IssuedWork& i = issued_[w.id];
  i = {};
  i.id = w.id;
  i.kind = w.kind;
  i.stream = w.stream;
  i.device = w.device;
  not_waited_for_[w.device].push_back(w.id);
  i.after = {w.after.begin(), w.after.end()};
  i.overlaps = {w.early_after.begin(), w.early_after.end()};
  if (!i.node()) {
    std::uint64_t& last = last_of_[{w.device, w.stream}];
    const auto before = issued_.find(last);
    if (w.early && before != issued_.end() && before->second.kind == w.kind) i.overlaps.push_back(last);
    last = w.id;
  }
  last_issued_ = std::max(last_issued_, w.id);
  using Kind = events::StreamWork::Kind;
  if ((w.kind != Kind::allocation && w.kind != Kind::deallocation) || w.address == 0) return;
  // Stream-ordered memory exists only between its allocation and its deallocation: both count as writes.
  const auto object = known_.objects.live_at(w.address);
  if (!object) return;
  Done d;
  d.work = w.id;
  touch(d.footprint, object->address, object->bytes, true, nullptr);
  compare(std::move(d));
}

// The host knows that this work, and all work before it, has ended.
void StreamRaces::retire(std::uint64_t work) {
  std::vector<std::uint64_t> next = {work};
  while (!next.empty()) {
    const auto it = issued_.find(next.back());
    next.pop_back();
    if (it == issued_.end() || it->second.known_from != ~std::uint64_t{0}) continue;
    it->second.known_from = last_issued_ + 1;
    next.insert(next.end(), it->second.after.begin(), it->second.after.end());
  }
}

void StreamRaces::on_host_wait(const events::HostWait& w, unsigned) {
  const std::lock_guard lock(mutex_);
  if (w.work != events::HostWait::kAll) return retire(w.work);
  for (const std::uint64_t id : std::exchange(not_waited_for_[w.device], {}))
    if (IssuedWork& i = issued_[id]; i.known_from == ~std::uint64_t{0}) i.known_from = last_issued_ + 1;
  forget_old();
}

// Does `second` begin after `first` has ended? `first` was issued earlier.
bool StreamRaces::ordered(std::uint64_t first, std::uint64_t second) const {
  const auto a = issued_.find(first), b = issued_.find(second);
  if (a == issued_.end() || b == issued_.end()) return true;
  if (a->second.known_from <= second) return true;
  if (!a->second.node() && a->second.stream == b->second.stream && a->second.device == b->second.device) return true;
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> next = {second};
  while (!next.empty()) {
    const auto it = issued_.find(next.back());
    next.pop_back();
    if (it == issued_.end()) continue;
    for (const std::uint64_t before : it->second.after) {
      if (before == first) return true;
      if (before < first || !seen.insert(before).second) continue;
      const auto w = issued_.find(before);
      if (w != issued_.end() && a->second.known_from <= before) return true;
      if (w != issued_.end() && !a->second.node() && w->second.stream == a->second.stream &&
          w->second.device == a->second.device)
        return true;
      next.push_back(before);
    }
  }
  return false;
}

void StreamRaces::on_launch_begin(const events::Launch& launch) {
  auto r = std::make_unique<Running>(launch.facts->sites.size());
  r->done.work = launch.work;
  const std::lock_guard lock(mutex_);
  const auto issued = issued_.find(launch.work);
  if (issued != issued_.end() && !issued->second.overlaps.empty()) note_overlaps(launch, issued->second, r->done);
  running_.add(launch, std::move(r));
}

// A grid that may begin early also overlaps the grids that its predecessor overlaps, if that one lets it begin before
// it has waited for them itself.
void StreamRaces::note_overlaps(const events::Launch& launch, IssuedWork& work, Done& done) {
  done.wait = position_of(launch, ptx::Modifier::wait);
  const std::uint32_t start = position_of(launch, ptx::Modifier::launch_dependents);
  // A grid that never waits may also end before them.
  work.starts_early = done.wait == ~0u || (start != 0 && start < done.wait);
  for (std::size_t k = 0; k < work.overlaps.size(); ++k) {
    const auto before = issued_.find(work.overlaps[k]);
    if (before == issued_.end() || !before->second.starts_early) continue;
    for (const std::uint64_t further : before->second.overlaps)
      if (std::find(work.overlaps.begin(), work.overlaps.end(), further) == work.overlaps.end())
        work.overlaps.push_back(further);
  }
}

void StreamRaces::on_access(const events::Access& a, unsigned) {
  if (a.mask == 0 || (a.space != StateSpace::global && a.space != StateSpace::texture)) return;
  Running* const r = running_.find(*a.launch);
  if (!r) return;
  Done& d = r->done;
  const Toucher by{a.site, a.type != AccessType::load};
  const auto [place, fresh] = d.sites.try_emplace(static_cast<std::uint32_t>(by.number()));
  if (fresh) {
    const auto lane = static_cast<unsigned>(std::countr_zero(a.mask));
    place->second = checkers::access_at(*a.launch, a.site, a.block, a.warp, lane, verb_of(a.type));
    place->second.bytes = a.sizes ? 0 : a.bytes;
    if (by.number() < r->has_place.size()) r->has_place[by.number()] = true;
  }
  const bool early = comes_early(d, *a.launch, a.site);
  const Way way = way_of(a);
  each_stretch(a, [&](std::uint64_t at, std::uint64_t bytes) { d.touch(at, bytes, by, early, way); });
}

bool StreamRaces::on_affine_access(const events::AffineAccess& a, unsigned) {
  if (a.mask == 0 || a.space != StateSpace::global) return true;
  Running* const r = running_.find(*a.launch);
  if (!r) return true;
  Done& d = r->done;
  const Toucher by{a.site, a.type != AccessType::load};
  if (by.number() >= r->has_place.size() || !r->has_place[by.number()]) return false;
  const Running::Last now{a.base, a.kx, a.ky, a.mask};
  if (std::exchange(r->last[by.number()], now) == now) return true;
  const bool early = comes_early(d, *a.launch, a.site);
  if (!early && touch_apart(d.footprint, a, by, &d.places[by.number()])) return true;
  each_stretch(a, [&](std::uint64_t at, std::uint64_t bytes) {
    if (early || !r->rows.follows(at, bytes, by, d.toucher())) d.touch(at, bytes, by, early);
  });
  return true;
}

void StreamRaces::on_launch_end(const events::Launch& launch, const events::LaunchCounts&) {
  const std::unique_ptr<Running> r = running_.take(launch);
  if (!r) return;
  r->rows.settle(r->done.toucher());
  const std::lock_guard lock(mutex_);
  compare(std::move(r->done));
}

void StreamRaces::on_host_copy(const events::HostCopy& c, unsigned) {
  compare_rows(c);
}
void StreamRaces::on_host_fill(const events::HostFill& f, unsigned) {
  compare_rows(f);
}

// Compares the work with all ended work that may race with it.
void StreamRaces::compare(Done&& d) {
  if (d.footprint.empty() || d.work == 0) return;
  for (const Done& other : done_) {
    if (other.work == d.work) continue;
    const bool other_first = other.work < d.work;
    const Done& first = other_first ? other : d;
    const Done& second = other_first ? d : other;
    const std::vector<std::uint64_t>& overlaps = issued_[second.work].overlaps;
    const bool early =
        !second.before_wait.empty() && std::find(overlaps.begin(), overlaps.end(), first.work) != overlaps.end();
    bool looked = early;
    for (const auto& [number, page] : early ? second.before_wait : second.footprint) {
      const auto it = first.footprint.find(number);
      if (it == first.footprint.end()) continue;
      const std::size_t word = conflict(page, it->second);
      if (word == kPageWords) continue;
      if (!looked && ordered(first.work, second.work)) break;
      looked = true;
      found(first, second, number, word, early);
      break;
    }
  }
  done_.push_back(std::move(d));
  if (!several_) {  // only one stream so far: the newest works are enough if another one appears
    constexpr std::size_t kKept = 32;
    while (done_.size() > kKept) done_.pop_front();
  }
  constexpr std::size_t kMost = 512;
  while (done_.size() > kMost) done_.pop_front();
}

// Drops work that the host has waited for: it cannot race with later work.
void StreamRaces::forget_old() {
  std::erase_if(done_, [&](const Done& d) {
    const auto it = issued_.find(d.work);
    return it == issued_.end() || it->second.known_from <= last_issued_ + 1;
  });
}

FindingAccess StreamRaces::access_of(const Done& d, std::uint64_t page, std::size_t word, bool writes) const {
  FindingAccess a;
  if (const auto work = known_.works.find(d.work)) a = checkers::access_of(*work);
  const auto touched = d.footprint.find(page);
  if (touched == d.footprint.end()) return a;
  for (const FootprintPage::By& t : touched->second.touchers) {
    if (t.writes != writes || word < t.low || word > t.high) continue;
    const auto site = d.sites.find(static_cast<std::uint32_t>(t.number()));
    if (site == d.sites.end()) continue;
    a.object = fmt::format("{} in {} at {}", site->second.access, site->second.kernel, place_text(site->second));
    break;
  }
  return a;
}

void StreamRaces::found(const Done& a, const Done& b, std::uint64_t page, std::size_t word, bool early) {
  using Kind = events::StreamWork::Kind;
  const IssuedWork &first = issued_[a.work], &second = issued_[b.work];
  const bool a_writes = a.footprint.find(page)->second.written[word],
             b_writes = (early ? b.before_wait : b.footprint).find(page)->second.written[word];
  Finding f;
  f.kind = first.node() || second.node() ? "race-graph" : "race-stream";
  if (second.kind == Kind::deallocation) f.kind = "use-after-free-stream";
  if (first.kind == Kind::allocation) f.kind = "use-before-alloc-stream";
  f.accesses = {access_of(a, page, word, a_writes), access_of(b, page, word, b_writes)};
  f.accesses[0].role = "first";
  f.accesses[1].role = "second";
  f.file = f.accesses[0].file;
  f.line = f.accesses[0].line;
  f.kernel = f.accesses[0].kernel;
  const std::uint64_t address = (page * kPageWords + word) * kWordBytes;
  auto object = known_.objects.live_at(address);
  if (!object) object = known_.objects.freed_at(address);  // freed since then
  if (object) {
    f.notes.push_back("both access " + describe(*object, address, kWordBytes));
    for (FindingAccess& at : f.accesses) at.bytes = kWordBytes;
    for (FindingAccess& at : f.accesses)
      at.memory = {"global", object->number, object->bytes, static_cast<std::int64_t>(address - object->address)};
  }
  if (second.kind == Kind::deallocation) {
    f.message = "a stream frees memory without waiting for its use in another stream";
    f.missing = "cudaStreamWaitEvent() in the freeing stream, for an event recorded after the use";
  } else if (first.kind == Kind::allocation) {
    f.message = "a stream uses memory without waiting for its allocation in another stream";
    f.missing = "cudaStreamWaitEvent() in the using stream, for an event recorded after cudaMallocAsync()";
  } else if (early) {
    f.message = fmt::format("the second kernel may begin before the first ends, and both {} the same memory",
                            a_writes && b_writes ? "write" : "read and write");
    f.missing = "griddepcontrol.wait (cudaGridDependencySynchronize()) in the second kernel, before it uses the memory";
  } else if (first.node() && second.node()) {
    f.message = fmt::format("two nodes of a graph {} the same memory, and no edge orders them",
                            a_writes && b_writes ? "write" : "read and write");
    f.missing = "an edge between the two nodes";
  } else if (f.kind == "race-graph") {
    f.message = fmt::format("a node of a graph and other work {} the same memory, without synchronisation",
                            a_writes && b_writes ? "write" : "read and write");
    f.missing =
        "cudaEventRecord() after the first work, then cudaStreamWaitEvent() before the second; a graph's node is work "
        "of the stream of cudaGraphLaunch()";
  } else {
    f.message =
        fmt::format("{} and {} {} the same memory in different streams, without synchronisation", f.accesses[0].access,
                    f.accesses[1].access, a_writes && b_writes ? "write" : "read and write");
    f.missing =
        "cudaEventRecord() after the first work in its stream, then cudaStreamWaitEvent() before the second work in "
        "its stream (the wait uses the last record before it)";
  }
  const std::string key =
      fmt::format("{}|{}:{}|{}:{}|{}|{}", f.kind, f.accesses[0].file, f.accesses[0].line, f.accesses[1].file,
                  f.accesses[1].line, f.accesses[0].kernel, f.accesses[1].kernel);
  const auto [it, fresh] = found_.try_emplace(key, std::move(f));
  if (fresh) announce(kNoLaunch, it->second);
  if (!fresh) ++it->second.count;
}

void StreamRaces::report(std::vector<Finding>& findings) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, f] : found_) findings.push_back(std::move(f));
  found_.clear();
}

std::unique_ptr<Checker> make_stream_races(const Known& known) {
  return std::make_unique<StreamRaces>(known);
}

}  // namespace warpgrind::checkers
