// Two records, of the run and of its present section (activity.h).
#include "session/activity.h"

#include "checkers/host_place.h"
#include "session/libraries_not_found.h"

namespace warpgrind::session {

template <class Note>
void Activity::add(Note&& note) {
  const std::lock_guard lock(mutex_);
  note(run_);
  if (section_) note(*section_);
}

void Activity::device_count_read() {
  add([](Record& r) { r.asked_for_devices = true; });
}

void Activity::device_used() {
  add([](Record& r) { r.used_device = true; });
}

void Activity::kernel_loaded(const std::string& mangled_name) {
  add([&](Record& r) { r.loaded.insert(mangled_name); });
}

void Activity::kernel_ran(const std::string& mangled_name, const std::string& name) {
  add([&](Record& r) {
    const auto [at, fresh] = r.launched.try_emplace(mangled_name);
    if (fresh) at->second = {name, mangled_name, 0};
    ++at->second.launches;
  });
}

void Activity::call_failed(const ApiError& error) {
  add([&](Record& r) {
    const auto [at, fresh] = r.failure_index.try_emplace({error.call, error.name}, r.failures.size());
    if (fresh) r.failures.push_back({error, 0});
    ++r.failures[at->second].count;
  });
}

void Activity::begin_section() {
  const std::lock_guard lock(mutex_);
  section_ = std::make_unique<Record>();
}

// Without the lock: the lookup of a place in the source reads the program's debug information.
results::Activity Activity::result_of(Record record) const {
  results::Activity out;
  out.asked_for_devices = record.asked_for_devices;
  out.used_device = record.used_device;
  out.loaded_kernels = record.loaded.size();
  for (const std::string& name : record.loaded) out.never_launched += !record.launched.contains(name);
  for (auto& [name, kernel] : record.launched) out.launched.push_back(std::move(kernel));
  for (const Failure& f : record.failures) {
    const jit::HostPlace place = checkers::user_place(f.first.callers, f.first.kernel);
    out.failed_calls.push_back({f.first.call, f.first.name, f.first.reason, place.file, place.line, f.count});
  }
  out.libraries_not_found = libraries_not_found();
  return out;
}

results::Activity Activity::of_run() const {
  std::unique_lock lock(mutex_);
  Record record = run_;
  lock.unlock();
  return result_of(std::move(record));
}

results::Activity Activity::of_section() const {
  std::unique_lock lock(mutex_);
  Record record = section_ ? *section_ : run_;
  lock.unlock();
  return result_of(std::move(record));
}

}  // namespace warpgrind::session
