// The functions of the driver API as one array in the order of the table, by which libcuda.so.1 finds them
// (library/trampolines.S) and cuGetProcAddress too.
#pragma once

namespace warpgrind::cuda {

struct DriverEntry {
  const char* name;    // as documented
  const char* symbol;  // of the ABI
  int version;         // since which the name means this symbol: 1000 major + 10 minor
  void (*function)();
  void (*own_stream)();  // the twin whose null stream is the thread's own; null: none
};
// The trampolines reckon with its layout.
static_assert(sizeof(DriverEntry) == 40);

}  // namespace warpgrind::cuda

// Ends with an entry that has no name.
extern "C" __attribute__((visibility("default"))) const warpgrind::cuda::DriverEntry warpgrind_driver_entries[];
