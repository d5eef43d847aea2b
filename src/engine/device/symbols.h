// Functions of src/engine/device that machine code calls by name, grouped by source file.
#pragma once

#include <span>

#include "device/memory/device_heap.h"
#include "jit/abi.h"
#include "jit/calls/symbols.h"

namespace warpgrind::device {

std::span<const jit::CallSymbol> memory_symbols();              // calls/memory.cpp
std::span<const jit::CallSymbol> control_symbols();             // execution/barrier.cpp
std::span<const jit::CallSymbol> together_symbols();            // execution/together.cpp
std::span<const jit::CallSymbol> call_symbols();                // calls/device_functions.cpp
std::span<const jit::CallSymbol> atomic_symbols();              // calls/atomics.cpp
std::span<const jit::CallSymbol> async_copy_symbols();          // calls/async_copy.cpp
std::span<const jit::CallSymbol> tensor_copy_symbols();         // calls/tensor_copies.cpp
std::span<const jit::CallSymbol> tensor_map_symbols();          // calls/tensor_maps.cpp
std::span<const jit::CallSymbol> bulk_reduction_symbols();      // calls/bulk_reductions.cpp
std::span<const jit::CallSymbol> launch_control_symbols();      // calls/launch_control.cpp
std::span<const jit::CallSymbol> warpgroup_symbols();           // calls/warpgroup_matrix.cpp
std::span<const jit::CallSymbol> tensor_memory_symbols();       // calls/tensor_memory.cpp
std::span<const jit::CallSymbol> tensor_mma_symbols();          // calls/tensor_mma.cpp
std::span<const jit::CallSymbol> tensor_memory_copy_symbols();  // calls/tensor_memory_copy.cpp
std::span<const jit::CallSymbol> texture_symbols();             // calls/texture.cpp
std::span<const jit::CallSymbol> surface_symbols();             // calls/surface.cpp
std::span<const jit::CallSymbol> multimem_symbols();            // calls/multimem.cpp
std::span<const jit::CallSymbol> device_launch_symbols();       // calls/device_launch.cpp
std::span<const jit::CallSymbol> definedness_symbols();         // definedness/tracking.cpp
std::span<const jit::CallSymbol> stop_symbols();                // execution/stops.cpp

// malloc and free in kernels (device_functions.cpp). heap_allocate() returns 0 if no memory is left.
std::uint64_t heap_allocate(jit::WarpContext& context, std::uint32_t site, unsigned lane, std::uint64_t bytes);
DeviceHeap::Released::Was heap_release(jit::WarpContext& context, std::uint32_t site, unsigned lane,
                                       std::uint64_t address);

// On a GPU the end of a phase of an mbarrier wakes all warps that wait for it. Called before the mbarrier's memory is
// used for another one, as libcu++'s tests of arrive_tx do: lets them see the phase's end first (together.cpp).
struct WarpFiber;
void let_waiting_warps_look(WarpFiber& fiber);
// Lets time pass that a copy or product takes on a GPU. Called before its end completes a phase of an mbarrier: each
// other warp of the cluster goes on until it waits, and sees the phases that are complete already (together.cpp).
void let_time_pass(WarpFiber& fiber);

inline jit::WarpContext& warp(void* context) {
  return *static_cast<jit::WarpContext*>(context);
}

}  // namespace warpgrind::device
