// Physical memory that is mapped where the program likes (virtual memory management of the driver API): pages of one
// file without a name. What is mapped twice is one memory.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace warpgrind::device {

// Where `bytes` of zeroes lie in the file. Nothing is committed until it is touched.
Result<std::uint64_t> take_physical(std::uint64_t bytes);
// Its pages are the host's again; the place in the file is not used again.
void give_physical_back(std::uint64_t offset, std::uint64_t bytes);

// Addresses that AddressSpace::reserve() gave. Kernels may use them once AddressSpace::replace() has said so.
Status map_physical(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset);
void unmap_physical(std::uint64_t address, std::uint64_t bytes);

}  // namespace warpgrind::device
