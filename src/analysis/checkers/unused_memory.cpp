// Checker of allocations of which a part is never written by kernels, copies or fills until they are freed or the
// program ends. Only with --track-unused-memory: most programs have some, and that is no error.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "checkers/checker.h"
#include "checkers/host_place.h"
#include "checkers/kernel_place.h"

namespace warpgrind::checkers {

namespace {

using results::Finding;

bool is_followed(events::Allocation::Kind kind) {
  return kind == events::Allocation::Kind::device || kind == events::Allocation::Kind::pool;
}

class UnusedMemory final : public Checker {
 public:
  explicit UnusedMemory(const Known& known) : known_(known) {}

  events::Wants wants() const override {
    events::Wants w;
    w.deallocations = known_.unwritten != nullptr;
    return w;
  }

  void on_deallocation(const events::Allocation& a, unsigned) override {
    if (!is_followed(a.kind)) return;
    if (const auto object = known_.objects.freed_at(a.address)) look(*object);
  }

  void report_section(std::vector<Finding>&) override {}
  void report(std::vector<Finding>& findings) override {
    if (!known_.unwritten) return;
    for (const Object& o : known_.objects.all())
      if (o.live() && is_followed(o.kind)) look(o);
    const std::lock_guard lock(mutex_);
    for (auto& [number, finding] : found_) findings.push_back(std::move(finding));
    found_.clear();
  }

 private:
  void look(const Object& o) {
    if (o.made.callers.empty() || o.made_by) return;  // memory of the runtime itself
    const Unwritten unwritten = known_.unwritten(o.address, o.bytes);
    if (unwritten.bytes == 0) return;
    Finding f;
    f.kind = "unused-memory";
    f.severity = results::Severity::info;
    f.count = 1;
    f.message = fmt::format("{} of {} bytes of an allocation are never written ({}%), from byte {} on", unwritten.bytes,
                            o.bytes, unwritten.bytes * 100 / o.bytes, unwritten.first);
    results::FindingAccess at = host_access(o.made);
    at.memory = {"global", o.number, o.bytes, static_cast<std::int64_t>(unwritten.first)};
    f.accesses.push_back(at);
    take_place(f, at);
    const std::lock_guard lock(mutex_);
    found_[o.number] = std::move(f);
  }

  const Known& known_;
  std::mutex mutex_;
  std::map<std::uint64_t, Finding> found_;  // by object
};

}  // namespace

std::unique_ptr<Checker> make_unused_memory(const Known& known) {
  return std::make_unique<UnusedMemory>(known);
}

}  // namespace warpgrind::checkers
