// The texts of the source files that a profile names.
#pragma once

#include <string>

#include "results/profile.h"

namespace warpgrind::results {

// In the process under test: reads every file that a site, line, PTX instruction or finding names into
// Profile::sources, as it is now; a file that is gone is looked for in a folder `source` beside
// the program, and one that cannot be read is there with the reason.
void read_sources(Profile& profile);

// A header that nobody wrote for the program: of the system, the toolkit or the compiler.
bool of_the_system(const std::string& file);

}  // namespace warpgrind::results
