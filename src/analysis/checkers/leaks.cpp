// Checker of leaks: objects that the program made and never released. After a fault all calls fail, including those
// that free, so nothing is reported.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "checkers/checker.h"
#include "checkers/host_place.h"
#include "checkers/kernel_place.h"

namespace warpgrind::checkers {

namespace {

using Kind = events::Allocation::Kind;
using results::Severity;

struct What {
  const char* kind = nullptr;  // null: not the program's to free
  const char* noun = "";
  const char* release = "";
};
What what_of(const Object& o) {
  switch (o.kind) {
    case Kind::device:
      return {"leak-device", "device memory", "cudaFree"};
    case Kind::managed:
      return {"leak-managed", "managed memory", "cudaFree"};
    case Kind::host:
      return {"leak-pinned", "pinned host memory", "cudaFreeHost"};
    case Kind::array:
      return {"leak-array", "array memory", "cudaFreeArray"};
    case Kind::pool:
      return {"leak-pool", "memory of a pool", "cudaFreeAsync"};
    case Kind::kernel_heap:
      return {"leak-heap", "memory of the device heap", "free() in a kernel"};
    case Kind::registered:
    case Kind::graph:
    case Kind::variable:
      break;
  }
  return {};
}
What what_of(const Handle& h) {
  if (h.kind == "stream") return {"leak-stream", "stream", "cudaStreamDestroy"};
  if (h.kind == "event") return {"leak-event", "event", "cudaEventDestroy"};
  if (h.kind == "texture") return {"leak-texture", "texture object", "cudaDestroyTextureObject"};
  return {"leak-graph", "graph", "cudaGraphDestroy, cudaGraphExecDestroy"};
}

// All leaked objects of one line.
struct Made {
  What what;
  results::FindingAccess at;
  Severity severity = Severity::warning;
  std::uint64_t count = 0, bytes = 0;
};
using Lines = std::map<std::tuple<std::string, std::string, std::uint32_t, std::string>, Made>;

void add(Lines& lines, const What& what, results::FindingAccess at, Severity severity, std::uint64_t bytes) {
  const std::string place = at.line ? "" : at.ptx_line ? fmt::format("{} {}", at.kernel, at.ptx_line) : at.function;
  Made& made = lines[{what.kind, at.file, at.line, at.access + place}];
  if (made.count == 0) made.what = what, made.at = std::move(at), made.severity = severity;
  ++made.count;
  made.bytes += bytes;
}

class Leaks final : public Checker {
 public:
  explicit Leaks(const Known& known) : known_(known) {}
  events::Wants wants() const override { return {}; }

  void report(std::vector<results::Finding>& findings) override {
    // A program that stops at a fault cannot free anything. One that continues after it could have.
    if (known_.faulted && *known_.faulted && !(known_.gone_on && *known_.gone_on)) return;
    Lines lines;
    for (const Object& o : known_.objects.all()) {
      const What what = what_of(o);
      if (!o.live() || !what.kind) continue;
      // Skips memory of the runtime and of NVIDIA's libraries, which no call of the program requested.
      if (!o.made_by && (!o.made.call.starts_with("cuda") || o.made.callers.empty())) continue;
      add(lines, what, o.made_by ? *o.made_by : host_access(o.made), Severity::warning, o.bytes);
    }
    if (known_.handles)
      for (const Handle& h : known_.handles->live())
        if (!h.made.callers.empty()) add(lines, what_of(h), host_access(h.made), Severity::info, 0);
    for (const auto& [key, made] : lines) findings.push_back(finding(made));
  }

 private:
  static results::Finding finding(const Made& made) {
    results::Finding f;
    f.kind = made.what.kind;
    f.severity = made.severity;
    f.count = made.count;
    if (made.bytes != 0)
      f.message = fmt::format("{} bytes of {} are never freed{}", made.bytes, made.what.noun,
                              made.count > 1 ? fmt::format(" ({} allocations)", made.count) : std::string());
    else
      f.message = made.count > 1
                      ? fmt::format("{} {}s are never destroyed", made.count, made.what.noun)
                      : fmt::format("{} {} is never destroyed", made.what.noun[0] == 'e' ? "an" : "a", made.what.noun);
    f.accesses.push_back(made.at);
    if (made.bytes != 0) f.accesses[0].memory = {"global", 0, made.bytes, 0};
    take_place(f, made.at);
    f.advice = fmt::format("call {} before the program ends", made.what.release);
    return f;
  }
  const Known& known_;
};

}  // namespace

std::unique_ptr<Checker> make_leaks(const Known& known) {
  return std::make_unique<Leaks>(known);
}

}  // namespace warpgrind::checkers
