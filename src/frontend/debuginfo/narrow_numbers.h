// Recognises CUDA's structure types that hold numbers of less than 32 bits.
#pragma once

#include "debuginfo/type.h"

namespace warpgrind::debuginfo {

// Sets the format and the count of components of a structure with the name of such a type. Component k begins at bit
// k * 8 * size / components.
void set_narrow_format(Type& type);

}  // namespace warpgrind::debuginfo
