// Replacement in PTX for NVIDIA's device runtime library (libcudadevrt), which is machine code.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "ptx/ast.h"

namespace warpgrind::ptx {

// Module with cooperative groups' functions of cuda_device_runtime_api.h (cudaCGGetIntrinsicHandle, cudaCGSynchronize,
// cudaCGSynchronizeGrid, cudaCGGetSize, cudaCGGetRank), to be linked to `modules`. Null if the modules declare none of
// them, or define one themselves.
Result<std::shared_ptr<Module>> device_runtime_for(const std::vector<std::shared_ptr<Module>>& modules);

}  // namespace warpgrind::ptx
