// How a launch was made, so that it can run again later (memory/earlier_launches.h).
#pragma once

#include <cstdint>

#include "device/device_impl.h"
#include "device/module.h"

namespace warpgrind::device {

struct MadeLaunch {
  // Both live until EarlierLaunches::forget_all() is called.
  LoadedModule* module = nullptr;
  KernelRecord* kernel = nullptr;
  LaunchConfig config;
  PackedParameters parameters;
  unsigned depth = 0;
  std::uint64_t cycles = 0;  // Device::Impl::cycles when it began
  KernelHeaps heaps;
};

}  // namespace warpgrind::device
