// The page's files, made from web/ when warpgrind is built.
#pragma once

#include <string_view>

#include "base/result.h"

namespace warpgrind::serve {

std::string_view page_script();
std::string_view page_style();
Status page_available();  // not: this build had no node

}  // namespace warpgrind::serve
