#include "checkers/kernel_code.h"

#include <algorithm>
#include <utility>

#include "checkers/kernel_place.h"
#include "checkers/warp_paths.h"

namespace warpgrind::checkers {

bool has_role(const events::Launch& launch, SiteRole role) {
  return std::ranges::any_of(launch.facts->sites, [&](const events::Site& s) { return role_of(s) == role; });
}

KernelCode::KernelCode(const events::Launch& launch, std::vector<std::string_view> operations)
    : operations_(std::move(operations)) {
  for (const events::Site& s : launch.facts->sites) roles_.push_back(role_of(s));
}

const TouchedRegisters* KernelCode::function(const events::Launch& launch, std::uint32_t site) {
  const std::string& name = launch.facts->sites[site].function;
  std::unique_ptr<TouchedRegisters>& f = functions_[name];
  if (!f)
    if (const ptx::Function* const body = find_body(*launch.module, name))
      f = std::make_unique<TouchedRegisters>(*body, operations_);
  return f.get();
}

void take_pair(results::Finding& finding, results::FindingAccess first, results::FindingAccess second) {
  first.role = "first";
  second.role = "second";
  take_place(finding, second);
  finding.accesses.push_back(std::move(first));
  finding.accesses.push_back(std::move(second));
}

void take_touch(results::Finding& finding, const events::WarpEvent& e, std::uint32_t site, const char* operation,
                const TouchedRegisters::Touch& touch) {
  results::FindingAccess second =
      access_at(*e.launch, site, e.block, e.warp, 0, touch.writes ? "write of a register" : "read of a register");
  move_to(second, *e.launch, e.launch->facts->sites[site], touch.instruction);
  take_pair(finding, access_at(*e.launch, site, e.block, e.warp, 0, operation), std::move(second));
}

}  // namespace warpgrind::checkers
