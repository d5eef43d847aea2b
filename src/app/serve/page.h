// Files of the page, built from web/ together with warpgrind.
#pragma once

#include <string_view>

#include "base/result.h"

namespace warpgrind::serve {

std::string_view page_script();
std::string_view page_style();
Status page_available();  // an error if this build had no node

}  // namespace warpgrind::serve
