// The device link step of -rdc=true. The virtual GPU links PTX when the program uses it first; what must be made here
// is the code that hands over the parts of a program as one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

struct DeviceLink {
  // Functions that register an object: the code of `carried` ones comes with the object, that of `embedded` ones is
  // here.
  std::vector<std::string> carried, embedded;
  std::vector<std::string> fatbins;  // of the embedded
  bool needed() const { return !carried.empty() || !embedded.empty(); }
};

// Objects and archives, in the order of the command line. Of an archive's members those are embedded that define what
// device code before them leaves open: the host's linker may have no reason to take them.
Result<DeviceLink> plan_device_link(const std::vector<std::string>& files);

// C source of the functions that objects call to register themselves; fatbin_files: of link.fatbins, where they lie.
std::string device_link_source(const DeviceLink& link, const std::vector<std::string>& fatbin_files);

// The archives among the libraries of -l, where no shared library of the name is found before.
std::vector<std::string> static_libraries(const std::vector<std::string>& names,
                                          const std::vector<std::string>& folders);

// Names that PTX makes visible, and those it wants of others.
struct PtxSymbols {
  std::vector<std::string> defined, wanted;
};
PtxSymbols ptx_symbols(std::string_view ptx);

}  // namespace warpgrind::toolchain
