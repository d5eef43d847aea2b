#include "debugger/kernel_places.h"

#include <algorithm>

#include "device/module.h"

namespace warpgrind::debugger {

KernelPlaces::KernelPlaces(const device::Launch& launch, DebugInfos& infos) : entry(launch.kernel->function) {
  const ptx::Module& module = launch.module->module();
  std::unique_ptr<debuginfo::DebugInfo>& known = infos[&module];
  if (!known) known = std::make_unique<debuginfo::DebugInfo>(launch.module->shared_module());
  info = known.get();
  places = jit::stop_places(module, launch.module->layout(entry), launch.kernel->how.stops);
  const auto begin =
      std::find_if(places.begin(), places.end(), [&](const jit::StopPlace& p) { return p.function == entry; });
  first = static_cast<std::uint32_t>(begin - places.begin());
  none.assign(places.size() + 1, 0);
  only_first = none;
  only_first[first] = 1;
  every.assign(places.size() + 1, 1);
}

bool KernelPlaces::is_of(const device::Launch& launch) const {
  return info && &info->module() == &launch.module->module() && entry == launch.kernel->function;
}

}  // namespace warpgrind::debugger
