// Part of wrapper.h: reports the host addresses of this object's __managed__ variables to the runtime, so that the
// device uses the same memory. host_defines.h puts these variables into a section of their own.
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
