// Part of wrapper.h: tells the runtime where this object's __managed__ variables lie on the host (host_defines.h puts
// them into a section of their own), so that the device uses the same memory.
#pragma once

#ifndef __CUDA_ARCH__
extern "C" {
extern char __start_wg_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_wg_managed[] __attribute__((weak, visibility("hidden")));
void warpgrind_managed_section(const char* begin, const char* end) __attribute__((weak));
}
namespace {
__attribute__((constructor(101), used)) void wg_tell_managed_section() {
  if (__start_wg_managed && warpgrind_managed_section) warpgrind_managed_section(__start_wg_managed, __stop_wg_managed);
}
}  // namespace
#endif
