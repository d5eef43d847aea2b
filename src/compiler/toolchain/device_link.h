// Device link step of -rdc=true. The virtual GPU links the PTX itself, at the program's first use of it. This step only
// makes the code that registers the parts of a program as one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

struct DeviceLink {
  // Functions that register an object. For `carried` ones the object has its device code; for `embedded` ones this step
  // adds the code.
  std::vector<std::string> carried, embedded;
  std::vector<std::string> fatbins;  // of the embedded ones
  bool needed() const { return !carried.empty() || !embedded.empty(); }
};

// `files`: objects and archives, in the order of the command line. Members of archives are embedded if they define a
// symbol that device code before them leaves undefined: the host's linker may have no reason to take them.
Result<DeviceLink> plan_device_link(const std::vector<std::string>& files);

// C source of the functions that objects call to register themselves. `fatbin_files`: where link.fatbins are stored.
std::string device_link_source(const DeviceLink& link, const std::vector<std::string>& fatbin_files);

// The archives among the libraries of -l for which no earlier folder has a shared library of the name.
std::vector<std::string> static_libraries(const std::vector<std::string>& names,
                                          const std::vector<std::string>& folders);

// Names that PTX makes visible, and names that it expects from other modules.
struct PtxSymbols {
  std::vector<std::string> defined, external;
};
PtxSymbols ptx_symbols(std::string_view ptx);

}  // namespace warpgrind::toolchain
