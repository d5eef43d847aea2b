// Store of earlier runs.
#include "mcp/run_store.h"

#include <fmt/format.h>

namespace warpgrind::mcp {

std::string RunStore::add(StoredRun run) {
  const std::lock_guard lock(mutex_);
  run.name = fmt::format("r{}", next_++);
  runs_.push_back(std::make_shared<const StoredRun>(std::move(run)));
  if (runs_.size() > kKept) runs_.pop_front();
  return runs_.back()->name;
}

Result<std::shared_ptr<const StoredRun>> RunStore::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  std::string known;
  for (const auto& run : runs_) {
    if (run->name == name) return run;
    known += (known.empty() ? "" : ", ") + run->name;
  }
  return Error{ErrorKind::bad_input, fmt::format("there is no run \"{}\"", name.substr(0, 40)),
               known.empty() ? "`run` makes one: its result names it" : "there are " + known};
}

}  // namespace warpgrind::mcp
