// Figures that lab/calibrate measured on a GPU ("format": "warpgrind-calibration 1"), and their insertion into a model
// file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/timing_constants.h"

namespace warpgrind {

struct Calibration {
  struct Figure {
    const TimingFigure* figure = nullptr;
    double value = 0;  // in the figure's unit
  };
  std::string gpu;         // "NVIDIA H200"
  bool measured = false;   // false: it ran on the virtual GPU
  double sm_mhz = 0;       // as a kernel measured it
  int driver_version = 0;  // CUDA version of the driver: 13000
  std::vector<Figure> figures;
};
Result<Calibration> read_calibration(const std::string& text, const std::string& file);

// Text of a GPU model's file with the measured figures in place of its own; other figures of the file stay. `day`: date
// for "measured_on", beside GPU, driver and clock. `file`: the model's name, for the error message.
Result<std::string> with_calibration(std::string_view model, const std::string& file, const Calibration& calibration,
                                     const std::string& day);

}  // namespace warpgrind
