// MTGP32 (include/warpgrind/curand/mtgp32.h) as a generator of the host interface. Gives the same numbers as NVIDIA's.
#pragma once

#include <memory>

#include "libraries/rand/generator.h"

namespace warpgrind::libraries::rand {

std::unique_ptr<Generator> make_mtgp32(const Settings& settings);

}  // namespace warpgrind::libraries::rand
