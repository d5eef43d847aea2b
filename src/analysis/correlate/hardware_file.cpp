// Parser of Nsight Compute's CSV pages.
#include "correlate/hardware_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/csv_line.h"
#include "results/metrics.h"

namespace warpgrind::correlate {
namespace {

using Record = std::vector<std::string>;

std::size_t column(const Record& header, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto it = std::find(header.begin(), header.end(), name); it != header.end())
      return static_cast<std::size_t>(it - header.begin());
  return Record::size_type(-1);
}
constexpr auto kNone = Record::size_type(-1);

// Nsight Compute scales bytes and seconds unless it runs with --print-units base.
struct Unit {
  const char* printed;
  const char* base;
  double factor;
};
constexpr Unit kUnits[] = {
    {"nsecond", "ns", 1},   {"usecond", "ns", 1e3}, {"msecond", "ns", 1e6},  {"second", "ns", 1e9},
    {"us", "ns", 1e3},      {"ms", "ns", 1e6},      {"s", "ns", 1e9},        {"Kbyte", "byte", 1e3},
    {"Mbyte", "byte", 1e6}, {"Gbyte", "byte", 1e9}, {"Tbyte", "byte", 1e12}, {"Kbyte/block", "byte/block", 1e3},
};

HardwareValue value_of(const std::string& printed, const std::string& unit) {
  HardwareValue out;
  out.text = printed;
  out.unit = unit;
  double factor = 1;
  for (const Unit& u : kUnits)
    if (unit == u.printed) {
      factor = u.factor;
      out.unit = u.base;
    }
  std::string digits;
  std::copy_if(printed.begin(), printed.end(), std::back_inserter(digits), [](char c) { return c != ','; });
  char* end = nullptr;
  out.value = std::strtod(digits.c_str(), &end) * factor;
  out.is_number = !digits.empty() && *end == '\0';
  const auto point = digits.find('.');
  const auto decimals = point == std::string::npos ? 0 : digits.size() - point - 1;
  out.tolerance = 0.51 * std::pow(10, -static_cast<double>(decimals)) * factor;
  return out;
}

std::string metric_name(const std::string& printed) {
  static const std::pair<const char*, const char*> kDetails[] = {
#define WG_DETAIL(label, ID) {label, results::name(results::MetricId::ID)},
#define WG_DETAIL_NOT_COUNTED(label, metric) {label, metric},
#include "correlate/details_names.inc"
#undef WG_DETAIL
#undef WG_DETAIL_NOT_COUNTED
  };
  for (const auto& [label, metric] : kDetails)
    if (printed == label) return metric;
  return printed;
}

struct Columns {
  std::size_t id, kernel, block, grid, capability, metric, unit, value;
  explicit Columns(const Record& header)
      : id(column(header, {"ID"})),
        kernel(column(header, {"Kernel Name", "kernel"})),
        block(column(header, {"Block Size", "block"})),
        grid(column(header, {"Grid Size", "grid"})),
        capability(column(header, {"CC"})),
        metric(column(header, {"Metric Name"})),
        unit(column(header, {"Metric Unit"})),
        value(column(header, {"Metric Value"})) {}
  bool good() const { return kernel != kNone && block != kNone && grid != kNone; }
  bool details() const { return metric != kNone && value != kNone; }
};

HardwareLaunch launch_of(const Record& record, const Columns& at) {
  HardwareLaunch out;
  out.kernel = record[at.kernel];
  out.block = record[at.block];
  out.grid = record[at.grid];
  if (at.capability != kNone) out.compute_capability = record[at.capability];
  return out;
}

}  // namespace

std::string bare_kernel_name(const std::string& printed) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    const char c = printed[i];
    if (printed.compare(i, 21, "(anonymous namespace)") == 0) {
      i += 20;
    } else if (c == '<') {
      ++depth;
    } else if (c == '>') {
      --depth;
    } else if (depth == 0) {
      if (c == '(') break;
      out += c;
    }
  }
  if (const auto space = out.find_last_of(' '); space != std::string::npos) out.erase(0, space + 1);
  if (const auto colon = out.rfind(':'); colon != std::string::npos) out.erase(0, colon + 1);
  return out;
}

Result<std::vector<HardwareLaunch>> read_hardware_file(const std::string& text, const std::string& file) {
  std::vector<HardwareLaunch> out;
  Record header, units, ids;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    if (line.starts_with("#") || line.starts_with("==")) continue;
    Record record = split_csv_line(line);
    const Columns maybe(record);
    if (header.empty() || maybe.good()) {
      if (maybe.good()) header = std::move(record);  // a second header: files were joined
      units.clear();
      continue;
    }
    if (record.size() != header.size()) continue;
    const Columns at(header);
    if (record[at.kernel].empty()) {
      units = std::move(record);
      continue;
    }
    if (at.details()) {
      const std::string id = at.id == kNone ? std::string() : record[at.id];
      if (out.empty() || ids.back() != id) {
        out.push_back(launch_of(record, at));
        ids.push_back(id);
      }
      if (!record[at.metric].empty())
        out.back().values[metric_name(record[at.metric])] =
            value_of(record[at.value], at.unit == kNone ? "" : record[at.unit]);
      continue;
    }
    out.push_back(launch_of(record, at));
    for (std::size_t c = 0; c < header.size(); ++c)  // columns that describe the launch are no metrics, but do no harm
      if (!record[c].empty()) out.back().values[header[c]] = value_of(record[c], units.empty() ? "" : units[c]);
  }
  if (header.empty())
    return Error{ErrorKind::bad_input, fmt::format("{}: not a CSV file of Nsight Compute", file),
                 "write one with `ncu --csv --page raw --log-file FILE PROGRAM`; it must have the columns \"Kernel "
                 "Name\", \"Block Size\" and \"Grid Size\""};
  if (out.empty()) return Error{ErrorKind::bad_input, fmt::format("{}: the file contains no kernel launch", file), ""};
  return out;
}

}  // namespace warpgrind::correlate
