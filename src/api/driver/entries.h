// Array of all driver API functions, in the order of the table (include/warpgrind/driver_functions.inc). libcuda.so.1
// (library/trampolines.S) and cuGetProcAddress look functions up in it.
#pragma once

namespace warpgrind::driver {

struct DriverEntry {
  const char* name;    // documented name
  const char* symbol;  // symbol of the ABI
  int version;         // CUDA version since which the name means this symbol: 1000 major + 10 minor
  void (*function)();
  void (*own_stream)();  // twin whose null stream is the thread's own (per-thread default stream); null: none
};
// The trampolines depend on this layout.
static_assert(sizeof(DriverEntry) == 40);

}  // namespace warpgrind::driver

// The last entry has a null name.
extern "C" __attribute__((visibility("default"))) const warpgrind::driver::DriverEntry warpgrind_driver_entries[];
