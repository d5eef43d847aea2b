// Findings in the XML format of compute-sanitizer's --xml: a <record> each, with <kind>, <level>, <who>, <what>,
// <where> and <hostStack>. NVIDIA publishes no schema; the elements are those that public readers of such files expect.
#pragma once

#include <string>
#include <vector>

#include "report/sanitizer_text.h"

namespace warpgrind::report {

std::string sanitizer_xml(const std::vector<const results::Finding*>& findings, const SanitizerForm& form);

}  // namespace warpgrind::report
