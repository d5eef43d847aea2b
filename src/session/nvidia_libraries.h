// NVIDIA's own libraries in a process under test, of which no library of ours takes the place: cuDNN, cuSOLVER and
// others.
#pragma once

#include <set>
#include <string>

namespace warpgrind::session {

// A line that names those that are loaded and not in `named`, to which they are added. Empty: there are none. NVIDIA's
// compilers (NVRTC, nvJitLink, libNVVM) run as they are on purpose, and are left out.
std::string name_nvidias_libraries(std::set<std::string>& named);

}  // namespace warpgrind::session
