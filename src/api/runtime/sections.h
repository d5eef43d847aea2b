// Sections of a run, for warpgrind/sections.h, which documents both functions.
#pragma once

namespace warpgrind::runtime {

int begin_section();
char* section_profile();

}  // namespace warpgrind::runtime
