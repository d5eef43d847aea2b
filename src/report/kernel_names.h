// Names of kernels as people write them on a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/profile.h"

namespace warpgrind::report {

// "void ns::scale<4>(float*, int)" -> "ns::scale<4>"
std::string short_name(std::string_view demangled);

// "void ns::scale<4>(float*, int)" -> "scale", as ncu means it with --kernel-name-base function.
std::string function_name(std::string_view demangled);

// Whether a pattern with * ? [..] is the kernel's full name, the name without result and parameters, without template
// arguments too, without namespaces too, or the mangled one.
bool matches(const std::string& pattern, const results::KernelProfile& kernel);

// "copy<32>, transpose_naive<32>, ..." of all kernels, each once, cut after `most`.
std::string kernel_list(const std::vector<const results::KernelProfile*>& kernels, std::size_t most = 12);

}  // namespace warpgrind::report
