// What Nsight Compute said of a program's launches: the CSV of its raw page (a column for each metric) or of its
// details page (a line for each).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::correlate {

struct HardwareValue {
  double value = 0;       // in base units: ns, byte, and what is not scaled
  double tolerance = 0;   // half of the last digit that was printed
  bool is_number = true;  // else the word stands in `text`
  std::string text, unit;
};

struct HardwareLaunch {
  std::string kernel;                           // as printed
  std::string block, grid;                      // "(256, 1, 1)"
  std::string compute_capability;               // "9.0"; empty: the file does not say
  std::map<std::string, HardwareValue> values;  // by metric name
};

// `file`: its name, for the message. Lines of the program's own output in between are passed over.
Result<std::vector<HardwareLaunch>> read_hardware_file(const std::string& text, const std::string& file);

// The same kernel, however a demangler spells it: without return type, namespaces, template arguments and parameters.
std::string bare_kernel_name(const std::string& printed);

}  // namespace warpgrind::correlate
