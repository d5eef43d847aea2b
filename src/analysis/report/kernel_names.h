// Short kernel names and patterns, as people write them on a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/profile.h"

namespace warpgrind::report {

// "void ns::scale<4>(float*, int)" -> "ns::scale<4>"
std::string short_name(std::string_view demangled);

// "void ns::scale<4>(float*, int)" -> "scale", as with ncu's --kernel-name-base function.
std::string function_name(std::string_view demangled);

// True if a pattern with * ? [..] matches the kernel's full name, its mangled name, or its name without result and
// parameters. The latter may also lack template arguments, namespaces, or both, and then Numba's tags.
bool matches(const std::string& pattern, const results::KernelProfile& kernel);

// "copy<32>, transpose_naive<32>, ...": all kernels, each name once, cut after `most`.
std::string kernel_list(const std::vector<const results::KernelProfile*>& kernels, std::size_t most = 12);

}  // namespace warpgrind::report
