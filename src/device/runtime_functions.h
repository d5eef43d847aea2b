// The functions of src/device that machine code calls by name, grouped as they are implemented.
#pragma once

#include <span>

#include "jit/abi.h"
#include "jit/runtime_symbols.h"

namespace warpgrind::device {

std::span<const jit::RuntimeSymbol> memory_symbols();         // memory_runtime.cpp
std::span<const jit::RuntimeSymbol> control_symbols();        // barrier.cpp
std::span<const jit::RuntimeSymbol> call_symbols();           // device_functions.cpp
std::span<const jit::RuntimeSymbol> atomic_symbols();         // atomics.cpp
std::span<const jit::RuntimeSymbol> async_copy_symbols();     // async_copy.cpp
std::span<const jit::RuntimeSymbol> texture_symbols();        // texture_runtime.cpp
std::span<const jit::RuntimeSymbol> device_launch_symbols();  // device_launch.cpp

inline jit::WarpContext& warp(void* context) {
  return *static_cast<jit::WarpContext*>(context);
}

}  // namespace warpgrind::device
