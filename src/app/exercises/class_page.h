// HTML page of a class: which student passed what, and the common mistakes, each with its drawn access. One file,
// without scripts or outside parts.
#pragma once

#include <string>
#include <vector>

#include "exercises/marks.h"

namespace warpgrind::exercises {

std::string class_page(const std::vector<StudentMarks>& students, const std::vector<const Exercise*>& exercises);

}  // namespace warpgrind::exercises
