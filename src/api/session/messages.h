// Messages to the user on stderr, besides the profile.
#pragma once

#include <string>

#include "base/result.h"
#include "device/device.h"
#include "results/profile.h"
#include "session/options.h"

namespace warpgrind::session {

void print(const std::string& text);       // on stderr, in one write
void print_line(const std::string& text);  // "warpgrind: TEXT", in one write
std::string banner(const GpuModel& model, const RunOptions& options);
std::string describe(const Error& error);
results::Finding to_finding(const device::Fault& fault);

}  // namespace warpgrind::session
