// Profile of a section: from the first begin() on, a second collector gets what the run's collector gets (sections.h).
#include "session/sections.h"

#include "advice/advise.h"
#include "checkers/selection.h"
#include "results/json.h"

namespace warpgrind::session {

namespace {

// Until the first begin(): the section is the run, without what sections lack.
results::Profile of_whole_run(const results::Collector& collector) {
  results::Profile out = collector.profile();
  out.launches.clear();
  out.timeline.clear();
  out.host_timeline.clear();
  out.timeline_left_out = out.host_timeline_left_out = 0;
  for (results::RangeProfile& range : out.ranges) range.kernels.clear();
  return out;
}

}  // namespace

void Sections::begin() {
  const std::lock_guard lock(mutex_);
  (void)parts_.findings.take_section();  // of the section before, which did not ask for them
  found_.clear();
  parts_.activity.begin_section();
  collector_ = std::make_shared<results::Collector>(/*keep_launches=*/false);
  parts_.collector.copy_to(collector_);
}

std::string Sections::profile_json() {
  const std::lock_guard lock(mutex_);
  for (results::Finding& finding : parts_.findings.take_section()) found_.push_back(std::move(finding));
  results::Profile profile = collector_ ? collector_->profile() : of_whole_run(parts_.collector);
  profile.program = parts_.options.program;
  profile.command = parts_.options.command;
  profile.gpu = parts_.model.name;
  profile.chosen_launches = as_options(parts_.options.launches);
  for (const auto& [group, member] : checkers::kGroups)
    if (parts_.options.checks.*member) profile.checks.emplace_back(group);
  profile.findings.insert(profile.findings.end(), found_.begin(), found_.end());
  profile.activity = parts_.activity.of_section();
  advice::advise(profile, &parts_.model);
  return results::to_json(profile);
}

}  // namespace warpgrind::session
