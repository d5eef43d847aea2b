// Content of a program.
#include "cli/program_content.h"

#include <nlohmann/json.hpp>

#include "base/demangle.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/program_modules.h"
#include "ptx/spelling.h"
#include "session/refusals.h"

namespace warpgrind::cli {

namespace {

using OrderedJson = nlohmann::ordered_json;

// Looks for the library's name in the file: the program may be linked with it, or open it itself.
bool compiles_at_run_time(const std::string& path) {
  const std::string content = read_whole(path, kLargestProgram).value_or("");
  if (!content.starts_with("\x7f"
                           "ELF"))
    return false;
  return content.find("nvrtcCompileProgram") != std::string::npos || content.find("libnvrtc.so") != std::string::npos;
}

ModuleContent content_of(const ptx::Module& module) {
  ModuleContent out;
  for (const ptx::Function& f : module.functions) {
    if (!f.has_body) continue;
    if (f.is_entry) out.kernels.push_back({demangle(f.name), f.name, f.body.size(), f.parameter_count});
    for (const ptx::Instruction& i : f.body) ++out.opcodes[ptx::opcode_spelling(i)];
  }
  for (const Error& e : session::refusals(module)) out.refused.push_back(e.message);
  return out;
}

}  // namespace

Result<ProgramContent> read_content(const std::string& path) {
  auto entries = fatbin::read_file(path);
  if (!entries) return entries.error();
  ProgramContent out;
  out.path = path;
  out.entries = entries.take();
  out.compiles_at_run_time = compiles_at_run_time(path);
  auto modules = read_modules(out.entries, path, &out.code);
  if (!modules) return modules.error();
  for (const std::shared_ptr<ptx::Module>& module : *modules) {
    out.modules.push_back(content_of(*module));
    if (!out.modules.back().refused.empty()) out.code = 1;
  }
  return out;
}

std::string content_json(const ProgramContent& content) {
  OrderedJson images = OrderedJson::array(), kernels = OrderedJson::array(), refused = OrderedJson::array();
  for (const fatbin::FatbinEntry& e : content.entries) {
    const bool ptx = e.kind == fatbin::EntryKind::ptx;
    OrderedJson image = {{"image", e.image}, {"kind", ptx ? "ptx" : "machine code"}, {"arch", e.arch}};
    if (ptx) image["ptx_version"] = std::to_string(e.major) + "." + std::to_string(e.minor);
    images.push_back(std::move(image));
  }
  std::map<std::string, std::uint64_t> opcodes;
  for (const ModuleContent& module : content.modules) {
    for (const KernelContent& k : module.kernels)
      kernels.push_back({{"name", k.name},
                         {"mangled_name", k.mangled_name},
                         {"instructions", k.instructions},
                         {"parameters", k.parameters}});
    for (const auto& [spelling, count] : module.opcodes) opcodes[spelling] += count;
    for (const std::string& why : module.refused) refused.push_back(why);
  }
  const OrderedJson out = {{"format", "warpgrind-content 1"},
                           {"program", content.path},
                           {"compiles_at_run_time", content.compiles_at_run_time},
                           {"images", std::move(images)},
                           {"kernels", std::move(kernels)},
                           {"opcodes", opcodes},
                           {"refused", std::move(refused)}};
  return out.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace warpgrind::cli
