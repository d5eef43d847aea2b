// Checker of uninitialised values where they matter: in a branch, an address, an operand of a barrier or shuffle, the
// old value of an atomic, or a copy to the host. The device tracks them bit by bit (device/definedness,
// codegen/kernel/definedness.h); this checker reports them.
#include <fmt/format.h>

#include <bit>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/demangle.h"
#include "checkers/checker.h"
#include "checkers/host_place.h"
#include "checkers/kernel_place.h"

namespace warpgrind::checkers {

namespace {

using events::UndefinedOrigin;
using events::UndefinedUse;
using results::Severity;
using OriginKind = UndefinedOrigin::Kind;

// Kind of finding by the place of the value; empty: its use determines the kind.
const char* kind_of(OriginKind origin) {
  switch (origin) {
    case OriginKind::shared:
      return "uninit-shared";
    case OriginKind::local:
      return "uninit-local";
    case OriginKind::register_:
      return "uninit-register";
    default:
      return "";
  }
}

struct UseWords {
  const char *kind, *message, *access, *advice;
};
// plain: an update by a load and a store, not by an atomic.
UseWords words_of(UndefinedUse::Use use, bool plain, OriginKind origin) {
  if (plain)
    return {"uninit-rmw", "an addition reads and updates uninitialised memory", "write",
            "initialise the memory before the launch, with cudaMemset or cudaMemcpy (their sizes are in bytes)"};
  switch (use) {
    case UndefinedUse::Use::address:
      return {"uninit-address", "an address is computed from an uninitialised value", "address",
              "initialise the index or pointer before its use"};
    case UndefinedUse::Use::operand:
      return {"uninit-branch", "a barrier or shuffle has an uninitialised operand", "operand",
              "initialise the value before its use"};
    case UndefinedUse::Use::update:
      return {"uninit-rmw", "an atomic operation updates uninitialised memory", "atomic",
              origin == OriginKind::memory ? "initialise the memory before the launch, with cudaMemset"
                                           : "initialise the memory in the kernel: each thread stores its part, then "
                                             "__syncthreads(), then the first atomic operation"};
    default:
      return {"uninit-branch", "a branch depends on an uninitialised value", "branch",
              "initialise the value on every path that leads to the branch"};
  }
}

class Initialisation final : public Checker {
 public:
  explicit Initialisation(const Known& known) : known_(known) {}

  events::Wants wants() const override {
    events::Wants w;
    w.undefined_uses = w.undefined_copies = true;
    return w;
  }
  void on_undefined_use(const UndefinedUse& use, unsigned worker) override;
  void on_undefined_copy(const events::UndefinedCopy& copy, unsigned worker) override;
  void report(std::vector<results::Finding>& findings) override;

 private:
  struct Seen {
    OrderKey order_key;
    results::Finding finding;
    std::uint64_t count = 0;
  };
  // Function, instruction, kind of use, and name_of() the origin.
  using Key = std::tuple<std::string, std::uint32_t, int, std::string>;

  void drop_duplicate_reads();
  void merge_statements();
  std::string name_of(const UndefinedOrigin& origin, const std::string& kernel) const;
  std::optional<results::FindingOrigin> origin_of_value(const UndefinedOrigin& origin, const std::string& kernel) const;
  std::vector<std::string> way_of(const UndefinedOrigin& origin) const;

  const Known known_;
  std::mutex mutex_;
  std::map<Key, Seen> seen_;
};

// Verb for the instruction that uses the value.
const char* verb_of_site(const events::Site& site, const char* otherwise) {
  switch (site.kind) {
    case SiteKind::load:
    case SiteKind::texture:
      return "read";
    case SiteKind::store:
      return "write";
    case SiteKind::atomic:
    case SiteKind::reduction:
      return "atomic";
    default:
      return otherwise;
  }
}

// Stable name of an origin, equal for equal origins.
std::string Initialisation::name_of(const UndefinedOrigin& origin, const std::string& kernel) const {
  // Without the register's name: an unrolled loop has another register in each iteration.
  if (origin.kind == OriginKind::register_) return "register " + kernel;
  if (origin.kind != OriginKind::memory)
    return fmt::format("{} {} {}", static_cast<int>(origin.kind), kernel, origin.object);
  const auto object = known_.objects.live_at(origin.address);
  return object ? fmt::format("memory {}", object->number) : "memory";
}

std::vector<std::string> Initialisation::way_of(const UndefinedOrigin& origin) const {
  std::vector<std::string> way;
  for (const UndefinedOrigin::Step& s : origin.way) {
    if (s.kernel.empty()) {
      const auto work = known_.works.find(s.work);
      way.push_back(work ? fmt::format("copied by {}", describe(work->call)) : "copied by the host");
    } else if (s.line) {
      way.push_back(
          fmt::format("copied at {}:{} by {}", s.file.substr(s.file.rfind('/') + 1), s.line, demangle(s.kernel)));
    } else {
      way.push_back(fmt::format("copied at PTX line {} by {}", s.ptx_line, demangle(s.kernel)));
    }
  }
  return way;
}

std::optional<results::FindingOrigin> Initialisation::origin_of_value(const UndefinedOrigin& origin,
                                                                      const std::string& kernel) const {
  results::FindingOrigin out;
  switch (origin.kind) {
    case OriginKind::unknown:
      return std::nullopt;
    case OriginKind::memory: {
      const auto object = known_.objects.live_at(origin.address);
      if (!object) return std::nullopt;
      out = origin_of(*object);
      out.object = describe(*object, origin.address, 1) + ", never written";
      break;
    }
    case OriginKind::shared:
      out.kind = "shared variable";
      out.object = origin.object.empty() ? fmt::format("byte {} of the shared memory of {}", origin.address, kernel)
                                         : fmt::format("`{}` (shared memory of {}, byte {})", plain_name(origin.object),
                                                       kernel, origin.address);
      break;
    case OriginKind::local:
      out.kind = "local variable";
      out.object = fmt::format("an array or variable in the local memory of {}, byte {}", kernel, origin.address);
      break;
    case OriginKind::register_:
      out.kind = "register";
      out.object =
          fmt::format("register {} of {}: a variable that this path does not initialise", origin.object, kernel);
      break;
  }
  out.way = way_of(origin);
  return out;
}

void Initialisation::on_undefined_use(const UndefinedUse& use, unsigned) {
  const events::Launch& launch = *use.launch;
  const events::Site& site = launch.facts->sites[use.site];
  const auto lane = static_cast<unsigned>(std::countr_zero(use.mask));
  const OrderKey order_key{launch.work, launch.id, linear_block(launch, use.block), use.warp, lane};
  std::unique_lock lock(mutex_);
  const std::string kernel = demangle(launch.facts->name);
  Seen& seen = seen_[{launch.facts->name + " " + site.function, use.instruction, static_cast<int>(use.use),
                      name_of(use.origin, kernel)}];
  const bool first = seen.count == 0 || order_key < seen.order_key;
  seen.count += static_cast<std::uint64_t>(std::popcount(use.mask));
  if (!first) return;
  seen.order_key = order_key;
  const bool plain = use.use == UndefinedUse::Use::update && site.kind == SiteKind::store;
  const UseWords words = words_of(use.use, plain, use.origin.kind);
  results::Finding f;
  f.kind = words.kind;
  if (plain) f.severity = Severity::warning;
  if (use.use == UndefinedUse::Use::branch || use.use == UndefinedUse::Use::operand)
    if (*kind_of(use.origin.kind)) f.kind = kind_of(use.origin.kind);
  f.message = words.message;
  f.advice = words.advice;
  f.accesses.push_back(access_at(use, lane, verb_of_site(site, words.access)));
  move_to(f.accesses[0], launch, site, use.instruction);
  take_place(f, f.accesses[0]);
  f.origin = origin_of_value(use.origin, kernel);
  if (plain && f.origin) f.origin->way.clear();  // it would only name the store itself
  const bool is_new = seen.finding.kind.empty();
  seen.finding = f;
  lock.unlock();
  if (is_new) announce(launch.id, f);
}

void Initialisation::on_undefined_copy(const events::UndefinedCopy& copy, unsigned) {
  const std::uint64_t copied = copy.copy->bytes * copy.copy->rows * copy.copy->slices;
  const auto work = known_.works.find(copy.copy->work);
  results::Finding f;
  f.kind = "uninit-copy-to-host";
  f.severity = copy.holes ? Severity::info : Severity::warning;
  if (!copy.holes && *kind_of(copy.origin.kind)) {  // a value that a kernel has computed, found only now
    f.kind = kind_of(copy.origin.kind);
    f.severity = Severity::error;
  }
  const auto object = known_.objects.live_at(copy.first);
  const std::string where =
      object ? fmt::format(" (bytes {}..{})", copy.first - object->address, copy.last - object->address) : "";
  f.message = fmt::format("{} of {} bytes copied to the host are uninitialised{}{}", copy.bytes, copied, where,
                          copy.holes ? ": they look like padding between the members of a structure" : "");
  f.advice = "copy only the bytes that the kernel wrote, or initialise the rest with cudaMemset";
  if (work) f.accesses.push_back(access_of(*work));
  if (!f.accesses.empty()) {
    if (object) f.accesses[0].object = describe(*object, copy.first, copy.last - copy.first + 1);
    take_place(f, f.accesses[0]);
  }
  f.origin = origin_of_value(copy.origin, copy.origin.way.empty() ? "" : demangle(copy.origin.way[0].kernel));
  std::unique_lock lock(mutex_);
  const OrderKey order_key{copy.copy->work, 0, 0, 0, 0};
  Seen& seen = seen_[{f.file, f.line, -1 - static_cast<int>(copy.holes), name_of(copy.origin, f.file)}];
  if (seen.count++ == 0 || order_key < seen.order_key) {
    const bool is_new = seen.finding.kind.empty();
    seen.order_key = order_key;
    seen.finding = f;
    lock.unlock();
    if (is_new) announce(kNoLaunch, f);
  }
}

// Drops findings of plain updates of unwritten memory, if another finding has the same origin.
void Initialisation::drop_duplicate_reads() {
  const auto is_plain = [](const Seen& s) {
    return s.finding.kind == "uninit-rmw" && s.finding.severity == Severity::warning;
  };
  std::set<std::string> reported_origins;
  for (const auto& [key, seen] : seen_)
    if (!is_plain(seen)) reported_origins.insert(std::get<3>(key));
  std::erase_if(seen_, [&](const auto& row) {
    return is_plain(row.second) && reported_origins.count(std::get<3>(row.first)) != 0;
  });
}

// Merges findings at several instructions of one statement into one.
void Initialisation::merge_statements() {
  using Statement = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Statement, std::map<Key, Seen>::iterator> first;
  for (auto row = seen_.begin(); row != seen_.end();) {
    const results::Finding& f = row->second.finding;
    std::string place = fmt::format("{}:{}", f.file, f.line);
    if (!f.accesses.empty())
      for (const results::InlinedAt& at : f.accesses[0].inlined_at) place += fmt::format(" {}:{}", at.file, at.line);
    const auto [known, is_new] = first.try_emplace({f.kind, f.kernel, place, std::get<3>(row->first)}, row);
    if (is_new || f.line == 0) {
      ++row;
      continue;
    }
    Seen& kept = known->second->second;
    kept.count += row->second.count;
    if (row->second.order_key < kept.order_key) {
      kept.order_key = row->second.order_key;
      kept.finding = std::move(row->second.finding);
    }
    row = seen_.erase(row);
  }
}

void Initialisation::report(std::vector<results::Finding>& findings) {
  const std::lock_guard lock(mutex_);
  drop_duplicate_reads();
  merge_statements();
  for (auto& [key, seen] : seen_) {
    results::Finding f = std::move(seen.finding);
    f.count = seen.count;
    const bool copies = std::get<2>(key) < 0;
    if (seen.count > 1) f.notes.push_back(fmt::format("seen {} times ({})", seen.count, copies ? "copies" : "threads"));
    findings.push_back(std::move(f));
  }
  seen_.clear();
}

}  // namespace

std::unique_ptr<Checker> make_initialisation(const Known& known) {
  return std::make_unique<Initialisation>(known);
}

}  // namespace warpgrind::checkers
