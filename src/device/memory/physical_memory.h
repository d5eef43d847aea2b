// Physical memory that is mapped where the program likes (virtual memory management of the driver API): pages of one
// file without a name, or of a file of their own where other processes may map them too. What is mapped twice is one
// memory.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace warpgrind::device {

// Where `bytes` of zeroes lie in the file. Nothing is committed until it is touched.
Result<std::uint64_t> take_physical(std::uint64_t bytes);
// Its pages are the host's again; the place in the file is not used again.
void give_physical_back(std::uint64_t offset, std::uint64_t bytes);

// Addresses that AddressSpace::reserve() gave. Kernels may use them once AddressSpace::replace() has said so.
// file: -1 for the one of take_physical().
Status map_physical(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, int file = -1);
void unmap_physical(std::uint64_t address, std::uint64_t bytes);

// A file of `bytes` zeroes that exists as long as a process has it open or mapped. The name is what file_name() gives
// of any descriptor of it, in any process; "" is no such file.
Result<int> make_shareable_file(const std::string& name, std::uint64_t bytes);
std::string file_name(int file);

}  // namespace warpgrind::device
