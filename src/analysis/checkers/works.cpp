#include "checkers/works.h"

#include <fmt/format.h>

#include "base/demangle.h"
#include "checkers/host_place.h"

namespace warpgrind::checkers {

std::string stream_name(const Work& w) {
  if (w.stream == events::StreamWork::kNoStream) return "a node of a graph";
  return w.stream == 0 ? "the default stream" : fmt::format("stream {}", w.stream);
}

results::FindingAccess access_of(const Work& w) {
  results::FindingAccess a;
  const jit::HostPlace place = user_place(w.call.callers, w.kernel);
  a.access = w.kind == events::StreamWork::Kind::grid ? "launch" : w.call.call;
  a.file = place.file;
  a.line = place.line;
  a.function = place.function.empty() ? "" : demangle(place.function);
  a.kernel = w.kernel.empty() ? "" : demangle(w.kernel);
  a.launch = w.id;
  a.stream = stream_name(w);
  return a;
}

events::Wants Works::wants() const {
  events::Wants w;
  w.stream_work = true;
  return w;
}

void Works::on_stream_work(const events::StreamWork& s, unsigned) {
  Work w;
  w.id = s.id;
  w.kind = s.kind;
  w.device = s.device;
  w.stream = s.stream;
  w.call = s.made ? *s.made : host_stack();
  const std::lock_guard lock(mutex_);
  works_[s.id] = std::move(w);
}

void Works::on_launch_begin(const events::Launch& launch) {
  const std::lock_guard lock(mutex_);
  const auto it = works_.find(launch.work);
  if (it != works_.end() && it->second.kernel.empty()) it->second.kernel = launch.facts->name;
}

std::optional<Work> Works::find(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto it = works_.find(id);
  if (it == works_.end()) return std::nullopt;
  return it->second;
}

}  // namespace warpgrind::checkers
