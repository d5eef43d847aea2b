#include "session/refusals.h"

#include <set>
#include <string>

#include "device/device.h"
#include "jit/compile/compiler.h"

namespace warpgrind::session {

std::vector<Error> refusals(const ptx::Module& module) {
  device::register_symbols();
  const std::unique_ptr<jit::Compiler> compiler = jit::make_compiler();
  std::vector<Error> all;
  std::set<std::string> known;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    if (!module.functions[f].is_entry || !module.functions[f].has_body) continue;
    for (Error& e : compiler->refusals(module, f, {}))
      if (known.insert(e.message).second) all.push_back(std::move(e));
  }
  return all;
}

}  // namespace warpgrind::session
