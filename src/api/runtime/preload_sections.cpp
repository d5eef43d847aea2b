// Exported functions of warpgrind/sections.h. They are in the preload library because each process of a run has it,
// with global symbols; libcudart.so.13 does the work once it is loaded.
#include <cstdlib>

#include "runtime/preload_hooks.h"

extern "C" {

__attribute__((visibility("default"))) int warpgrind_begin_section() {
  const warpgrind::runtime::PreloadHooks* const hooks = warpgrind::runtime::hooks();
  return hooks ? hooks->begin_section() : 0;
}

__attribute__((visibility("default"))) char* warpgrind_section_profile() {
  const warpgrind::runtime::PreloadHooks* const hooks = warpgrind::runtime::hooks();
  return hooks ? hooks->section_profile() : nullptr;
}

__attribute__((visibility("default"))) void warpgrind_free(void* text) {
  std::free(text);
}

}  // extern "C"
