// Registration of CUDA code.
#include "session/programs.h"

#include <utility>

namespace warpgrind::session {

Programs::Programs(const RunOptions& options, const GpuModel& model, Run& run)
    : options_(options), model_(model), run_(run) {}

Result<Program*> Programs::add(const void* wrapper) {
  const std::string name = options_.program.empty() ? "program" : options_.program;
  if (fatbin::gets_parts_later(wrapper))
    return add(Program::Entries([wrapper] { return fatbin::read_wrapper(wrapper); }), name);
  Result<std::vector<fatbin::FatbinEntry>> entries = fatbin::read_wrapper(wrapper);
  if (!entries) return entries.error();
  return add(entries.take(), name);
}

Result<Program*> Programs::add(std::vector<fatbin::FatbinEntry> entries, const std::string& name) {
  return add(Program::Entries([entries = std::move(entries)] { return Result(entries); }), name);
}

Result<Program*> Programs::add(Program::Entries entries, const std::string& name) {
  run_.announce();
  const auto cc = static_cast<std::uint32_t>(model_.cc_major * 10 + model_.cc_minor);
  const std::lock_guard lock(mutex_);
  programs_.push_back(std::make_unique<Program>(std::move(entries), cc, name));
  return programs_.back().get();
}

void Programs::unload(device::Device& gpu) {
  const std::lock_guard lock(mutex_);
  for (auto& program : programs_) program->unload(gpu);
}

}  // namespace warpgrind::session
