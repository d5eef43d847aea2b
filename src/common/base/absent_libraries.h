// What a program can do without those of NVIDIA's libraries that are asked for most and have no counterpart here.
#pragma once

#include <string_view>

namespace warpgrind {

// file: a file name, such as "libcudnn_ops.so.9". Empty: nothing is known about this library.
std::string_view advice_without(std::string_view file);

}  // namespace warpgrind
