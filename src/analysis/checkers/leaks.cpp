// Checker of leaks: objects that the program made and never released, or left to the end of the context (INFO). After a
// fault all calls fail, including those that free, so nothing is reported.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
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
  std::string ended_by;  // the call that ended the context, and so released them; empty: nothing did
  std::uint64_t count = 0, bytes = 0;
};

// The call that ended the context with the object in it. Empty: another call released it, or none.
std::string ended_by(const std::optional<HostStack>& released) {
  constexpr std::string_view kEnds[] = {"cudaDeviceReset",           "cudaThreadExit", "cuDevicePrimaryCtxReset",
                                        "cuDevicePrimaryCtxRelease", "cuCtxDestroy",   "cuCtxDetach"};
  if (!released) return "";
  const bool ends = std::any_of(std::begin(kEnds), std::end(kEnds),
                                [&](std::string_view call) { return released->call.starts_with(call); });
  return ends ? released->call : "";
}
using Lines = std::map<std::tuple<std::string, std::string, std::uint32_t, std::string>, Made>;

void add(Lines& lines, const What& what, results::FindingAccess at, Severity severity, const std::string& ended_by,
         std::uint64_t bytes) {
  const std::string place = at.line ? "" : at.ptx_line ? fmt::format("{} {}", at.kernel, at.ptx_line) : at.function;
  Made& made = lines[{what.kind, at.file, at.line, fmt::format("{}{} {}", at.access, place, ended_by)}];
  if (made.count == 0) {
    made.what = what;
    made.at = std::move(at);
    made.severity = ended_by.empty() ? severity : Severity::info;
    made.ended_by = ended_by;
  }
  ++made.count;
  made.bytes += bytes;
}

class Leaks final : public Checker {
 public:
  explicit Leaks(const Known& known) : known_(known) {}
  events::Wants wants() const override { return {}; }

  void report_section(std::vector<results::Finding>&) override {}
  void report(std::vector<results::Finding>& findings) override {
    // A program that stops at a fault cannot free anything. One that continues after it could have.
    if (known_.faulted && *known_.faulted && !(known_.gone_on && *known_.gone_on)) return;
    Lines lines;
    for (const Object& o : known_.objects.all()) {
      const What what = what_of(o);
      const std::string end = ended_by(o.freed);
      if ((!o.live() && end.empty()) || !what.kind) continue;
      // Skips memory of the runtime and of NVIDIA's libraries, which no call of the program requested.
      if (!o.made_by && (!o.made.call.starts_with("cuda") || o.made.callers.empty())) continue;
      add(lines, what, o.made_by ? *o.made_by : host_access(o.made), Severity::warning, end, o.bytes);
    }
    if (known_.handles)
      for (const Handle& h : known_.handles->all()) {
        const std::string end = ended_by(h.destroyed);
        if ((h.destroyed && end.empty()) || h.made.callers.empty()) continue;
        add(lines, what_of(h), host_access(h.made), Severity::info, end, 0);
      }
    for (const auto& [key, made] : lines) findings.push_back(finding(made));
  }

 private:
  static results::Finding finding(const Made& made) {
    results::Finding f;
    f.kind = made.what.kind;
    f.severity = made.severity;
    f.count = made.count;
    const std::string_view noun = made.what.noun;
    const std::string done = made.bytes != 0 ? "freed" : "destroyed";
    const std::string how = made.ended_by.empty() ? "never " + done : fmt::format("{} by {} only", done, made.ended_by);
    if (made.bytes != 0)
      f.message = fmt::format("{} bytes of {} are {}{}", made.bytes, noun, how,
                              made.count > 1 ? fmt::format(" ({} allocations)", made.count) : std::string());
    else
      f.message = made.count > 1 ? fmt::format("{} {}s are {}", made.count, noun, how)
                                 : fmt::format("{} {} is {}", noun[0] == 'e' ? "an" : "a", noun, how);
    f.accesses.push_back(made.at);
    if (made.bytes != 0) f.accesses[0].memory = {"global", 0, made.bytes, 0};
    take_place(f, made.at);
    f.advice = fmt::format("call {} before {}", made.what.release,
                           made.ended_by.empty() ? std::string("the program ends") : made.ended_by);
    return f;
  }
  const Known& known_;
};

}  // namespace

std::unique_ptr<Checker> make_leaks(const Known& known) {
  return std::make_unique<Leaks>(known);
}

}  // namespace warpgrind::checkers
