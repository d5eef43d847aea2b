// Reader of calibration files, and their insertion into the text of a model.
#include "gpu/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace warpgrind {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;
constexpr const char* kFormat = "warpgrind-calibration 1";
constexpr int kDigits = 4;  // more than two runs agree on

const TimingFigure* find_figure(const std::string& name) {
  for (const TimingFigure& f : timing_figures())
    if (name == f.name) return &f;
  return nullptr;
}

Ordered rounded(double value) {
  const double scale = std::pow(10, kDigits - 1 - std::floor(std::log10(value)));
  const double out = std::round(value * scale) / scale;
  if (out == std::floor(out)) return static_cast<std::int64_t>(out);
  return out;
}

// Prints in the style of the hand-written files: objects of the first two levels and lists of sentences go over several
// lines.
void print(const Ordered& j, unsigned level, std::string& out) {
  const bool words = j.is_array() && !j.empty() && j.front().is_string();
  if ((!j.is_object() && !j.is_array()) || j.empty()) {
    out += j.dump();
    return;
  }
  const bool lines = words || (j.is_object() && level < 2);
  const std::string indent = lines ? "\n" + std::string(2 * (level + 1), ' ') : std::string();
  out += j.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, value] : j.items()) {
    out += first ? "" : lines ? "," : ", ";
    out += indent;
    if (j.is_object()) out += Ordered(key).dump() + ": ";
    print(value, level + 1, out);
    first = false;
  }
  if (lines) out += "\n" + std::string(2 * level, ' ');
  out += j.is_object() ? '}' : ']';
}

}  // namespace

Result<Calibration> read_calibration(const std::string& text, const std::string& file) {
  const Json j = Json::parse(text, nullptr, false);
  if (!j.is_object() || json::get<std::string>(j, "format") != kFormat)
    return Error{ErrorKind::bad_input, fmt::format("{}: not a file of `warpgrind calibrate`", file),
                 fmt::format("its \"format\" must be \"{}\"", kFormat)};
  Calibration out;
  json::read(j, "name", out.gpu);
  json::read(j, "measured", out.measured);
  json::read(j, "sm_mhz_before", out.sm_mhz);
  json::read(j, "driver_version", out.driver_version);
  std::string problem;
  json::each(j, "figures", [&](const Json& f) {
    const auto name = json::get<std::string>(f, "name");
    const TimingFigure* figure = find_figure(name);
    const double value = json::get<double>(f, "value");
    if (!figure || json::get<std::string>(f, "unit") != figure->unit || !(value > 0)) {
      if (problem.empty())
        problem = fmt::format("{}: \"{}\" is no figure of a GPU model, or has another unit", file, name);
      return;
    }
    out.figures.push_back({figure, value});
  });
  if (!problem.empty()) return Error{ErrorKind::bad_input, problem, "it was written by another version"};
  return out;
}

Result<std::string> with_calibration(std::string_view model, const std::string& file, const Calibration& calibration,
                                     const std::string& day) {
  Ordered j = Ordered::parse(model, nullptr, false);
  if (!j.is_object() || !j.contains("timing") || !j["timing"].is_object())
    return Error{ErrorKind::bad_input, fmt::format("{}: not a GPU model", file), ""};
  Ordered& timing = j["timing"];
  timing["measured_on"] =
      fmt::format("{}, CUDA {}.{}, SM {:.0f} MHz, {}", calibration.gpu, calibration.driver_version / 1000,
                  calibration.driver_version % 1000 / 10, calibration.sm_mhz, day);
  for (const Calibration::Figure& f : calibration.figures)
    timing[f.figure->name] =
        Ordered{{"value", rounded(f.value)}, {"unit", f.figure->unit}, {"origin", name(TimingOrigin::measured)}};
  std::string out;
  print(j, 0, out);
  return out + "\n";
}

}  // namespace warpgrind
