// Formatting of numbers and units for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/types.h"

namespace warpgrind::report {

inline constexpr std::size_t kTerminalWidth = 80;  // columns of terminal output

std::string grouped(double count);            // 1234567 -> "1,234,567"; a fraction keeps two digits
std::string with_bytes(double bytes);         // "16.0 MiB", "512 B"
std::string with_time(double ns);             // "12.3 us"
std::string fixed(double value, int digits);  // "3.14"
std::string shortened_path(const std::string& path, std::size_t width);  // ".../lab/transpose.cu": the end is kept
std::string percent(double value);                                       // "87.5 %"
std::string compact_dim3(const Dim3& d);                                 // "(16,16,1)"
std::string left(std::string text, int width);                           // padded to the right, by characters
std::string right(const std::string& text, int width);                   // padded to the left

}  // namespace warpgrind::report
