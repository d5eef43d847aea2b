// Launches of a program as reported by Nsight Compute: the CSV of its raw page (a column per metric) or of its details
// page (a line per metric).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::correlate {

struct HardwareValue {
  double value = 0;       // in base units: ns, byte, or an unscaled unit
  double tolerance = 0;   // half a unit of the last printed digit
  bool is_number = true;  // false: `text` holds the word
  std::string text, unit;
};

struct HardwareLaunch {
  std::string kernel;                           // as printed
  std::string block, grid;                      // "(256, 1, 1)"
  std::string compute_capability;               // "9.0"; empty: not in the file
  std::map<std::string, HardwareValue> values;  // by metric name
};

// `file`: name for error messages. Lines of the program's own output in between are skipped.
Result<std::vector<HardwareLaunch>> read_hardware_file(const std::string& text, const std::string& file);

// Kernel name that does not depend on the demangler: without return type, namespaces, template arguments and
// parameters.
std::string bare_kernel_name(const std::string& printed);

}  // namespace warpgrind::correlate
