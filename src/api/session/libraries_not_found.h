// NVIDIA's libraries that the process looked for by dlopen and did not find. Clients then often do without them, and do
// not say so.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::session {

// File names as they were first asked for ("libcudnn.so.9"), in that order; each library once. Empty without the
// preload library, which sees the calls of dlopen.
std::vector<std::string> libraries_not_found();

}  // namespace warpgrind::session
