// Reader for the texts of the source files that a profile names.
#pragma once

#include <string>

#include "results/profile.h"

namespace warpgrind::results {

// Reads every file that a site, line, PTX instruction or finding names into Profile::sources, with its current text.
// Call it in the process under test. A missing file is searched in a folder `source` beside the program. A file that
// cannot be read gets an entry with the reason.
void read_sources(Profile& profile);

}  // namespace warpgrind::results
