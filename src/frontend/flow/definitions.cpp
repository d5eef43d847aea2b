#include "flow/definitions.h"

#include "base/assert.h"
#include "flow/forms.h"
#include "flow/liveness.h"
#include "flow/webs.h"

namespace warpgrind::flow {

Definitions find_definitions(const ptx::Function& written_function) {
  Definitions found;
  found.function = written_function;
  ptx::Function& function = found.function;
  split_webs(function, build_control_flow(function));
  WG_ASSERT(function.body.size() == written_function.body.size());
  found.of.resize(function.registers.size());
  found.unwritten.assign(function.registers.size(), false);
  std::vector<ptx::RegId> written;
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    written.clear();
    registers_written(function.body[n], written);
    for (const ptx::RegId r : written) found.of[r].push_back(n);
  }
  const LiveRegisters live = find_live_registers(function, build_control_flow(function));
  for (std::uint32_t r = 0; r < function.registers.size(); ++r) found.unwritten[r] = live.live_in(0, r);
  return found;
}

}  // namespace warpgrind::flow
