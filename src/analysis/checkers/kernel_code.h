// What the code of a kernel says to the checkers of asynchronous operations on registers (wgmma, tcgen05): the role of
// each site, and the registers on the ways through its functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/site_roles.h"
#include "checkers/touched_registers.h"
#include "events/events.h"
#include "results/finding.h"

namespace warpgrind::checkers {

// Whether a site of the launch has this role.
bool has_role(const events::Launch& launch, SiteRole role);

class KernelCode {
 public:
  // operations: beginnings of the opcodes at which ways end (TouchedRegisters).
  KernelCode(const events::Launch& launch, std::vector<std::string_view> operations);
  SiteRole role(std::uint32_t site) const { return site < roles_.size() ? roles_[site] : SiteRole::none; }
  // The function of the site; null if the module has no body of it. Call only while the launch runs.
  const TouchedRegisters* function(const events::Launch& launch, std::uint32_t site);

 private:
  std::vector<SiteRole> roles_;  // by site
  std::vector<std::string_view> operations_;
  std::map<std::string, std::unique_ptr<TouchedRegisters>> functions_;
};

// The two accesses of a finding, in the order of execution. The finding is at the second one.
void take_pair(results::Finding& finding, results::FindingAccess first, results::FindingAccess second);
// The same for an asynchronous operation and an instruction that touches one of its registers. operation: its name.
void take_touch(results::Finding& finding, const events::WarpEvent& e, std::uint32_t site, const char* operation,
                const TouchedRegisters::Touch& touch);

}  // namespace warpgrind::checkers
