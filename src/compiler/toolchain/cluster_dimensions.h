// Cluster dimensions of kernels in PTX, from __cluster_dims__(x, y, z). clang 19 cannot write their PTX directives;
// src/compiler/launchpass leaves the comment "// cluster_dims KERNEL x y z" in the PTX instead.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind::toolchain {

// The PTX with .explicitcluster and .reqnctapercluster at those kernels, and without the comments.
std::string with_cluster_dimensions(std::string_view ptx);

}  // namespace warpgrind::toolchain
