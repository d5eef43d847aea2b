#include "cli/program_modules.h"

#include <map>

#include "cli/commands.h"
#include "ptx/device_runtime.h"
#include "ptx/linker.h"
#include "ptx/parser.h"

namespace warpgrind::cli {

Result<std::vector<std::shared_ptr<ptx::Module>>> read_modules(const std::vector<fatbin::FatbinEntry>& entries,
                                                               const std::string& path, int* code) {
  std::map<std::uint32_t, std::vector<std::shared_ptr<ptx::Module>>> groups;
  for (std::uint32_t image : fatbin::program_images(entries)) {
    const std::uint32_t newest = fatbin::newest_ptx(entries, image);  // a virtual GPU can run PTX of any architecture
    auto choice = fatbin::choose_ptx(entries, image, newest, fatbin::UnfitPtx::accept);
    if (!choice) {
      complain(choice.error());
      *code = kUsageError;
      continue;
    }
    auto text = fatbin::ptx_text(*choice->entry);
    if (!text) return text.error();
    auto module = ptx::parse(text.take(), path);
    if (!module) return module.error();
    groups[choice->entry->wrapper].push_back(module.take());
  }
  std::vector<std::shared_ptr<ptx::Module>> modules;
  for (auto& [wrapper, parts] : groups) {
    auto runtime = ptx::device_runtime_for(parts);
    if (!runtime) return runtime.error();
    if (*runtime) parts.push_back(runtime.take());
    auto linked = ptx::link(parts);
    if (!linked) return linked.error();
    modules.push_back(linked.take());
  }
  return modules;
}

}  // namespace warpgrind::cli
