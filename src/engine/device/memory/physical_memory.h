// Physical memory for the driver API's virtual memory management, mapped at addresses of the program's choice. Its
// pages belong to one unnamed file, or to a file of their own if other processes may map them. Two mappings of the same
// pages share their contents.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace warpgrind::device {

// Returns the offset of `bytes` zeroes in the file. Pages are committed when touched.
Result<std::uint64_t> take_physical(std::uint64_t bytes);
// Returns the pages to the host; the place in the file is not used again.
void give_physical_back(std::uint64_t offset, std::uint64_t bytes);

// Map and unmap addresses from AddressSpace::reserve(). Kernels may use them after AddressSpace::replace(). file: -1
// for the one of take_physical().
Status map_physical(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, int file = -1);
void unmap_physical(std::uint64_t address, std::uint64_t bytes);

// Creates a file of `bytes` zeroes that exists as long as a process has it open or mapped. file_name() returns its name
// for any descriptor of it, in any process; "": no such file.
Result<int> make_shareable_file(const std::string& name, std::uint64_t bytes);
std::string file_name(int file);

}  // namespace warpgrind::device
