// Warning about NVIDIA's own libraries in the process under test that no library of warpgrind replaces: cuDNN, cuTENSOR
// and others.
#pragma once

#include <set>
#include <string>

namespace warpgrind::session {

// Returns a line that names the loaded libraries that are not yet in `named`, and adds them to it. Empty: there are
// none. NVIDIA's compilers (NVRTC, nvJitLink, libNVVM) run unchanged on purpose, and are left out.
std::string name_nvidias_libraries(std::set<std::string>& named);

}  // namespace warpgrind::session
