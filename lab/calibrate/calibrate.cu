// Measures the constants of the time estimate on the current GPU. `warpgrind calibrate` runs it and merges its figures
// into a GPU model. Takes a few seconds.
//
//   calibrate [--json FILE] [--csv FILE]
//
// JSON: "format": "warpgrind-calibration 1", the GPU, `measured` (false on the virtual GPU, where a run only shows that
// the program works), `figures` (name, value, unit). CSV: every measurement behind the figures.
#include <cstring>

#include "calibrate/instructions.cuh"
#include "calibrate/launches.cuh"
#include "calibrate/memory.cuh"
#include "calibrate/on_chip.cuh"
#include "calibrate/transfers.cuh"

namespace {

bool write(const char* path, const std::string& content) {
  if (!path) return true;
  std::FILE* file = std::fopen(path, "w");
  const bool good = file && std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (file && std::fclose(file) == 0 && good) return true;
  std::fprintf(stderr, "calibrate: cannot write %s\n", path);
  return false;
}

std::string json(const calibrate::Bench& b, double mhz_after) {
  int device = 0, driver = 0;
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  lab::JsonObject o;
  o.text("format", "warpgrind-calibration 1").flag("measured", !b.dry).text("name", properties.name);
  o.number("cc_major", properties.major).number("cc_minor", properties.minor).number("sm_count", b.sms);
  o.number("driver_version", driver).number("sm_mhz_before", b.ghz * 1e3).number("sm_mhz_after", mhz_after);
  o.raw("figures", b.report.figures_json());
  return o.str() + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const char *json_path = nullptr, *csv_path = nullptr;
  for (int i = 1; i < argc; i += 2) {
    const bool value = i + 1 < argc;
    if (value && std::strcmp(argv[i], "--json") == 0)
      json_path = argv[i + 1];
    else if (value && std::strcmp(argv[i], "--csv") == 0)
      csv_path = argv[i + 1];
    else
      return std::fprintf(stderr, "usage: calibrate [--json FILE] [--csv FILE]\n"), lab::kExitArguments;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count < 1)
    return std::fprintf(stderr, "calibrate: no CUDA device: %s\n", cudaGetErrorString(error)), lab::kExitCuda;

  calibrate::Bench b;
  const double begin = lab::wall_us();
  const auto group = [&](const char* name, void (*run)(calibrate::Bench&)) {
    std::printf("%s (%.1f s)\n", name, (lab::wall_us() - begin) * 1e-6);
    run(b);
  };
  group("launches", calibrate::launches);
  group("instructions", calibrate::instructions);
  group("on chip", calibrate::on_chip);
  group("memory", calibrate::memory);
  group("transfers", calibrate::transfers);
  const double mhz_after = b.dry ? 0 : lab::measured_sm_mhz();
  if (b.dry)
    std::printf("nothing was measured: this is the virtual GPU\n");
  else
    std::printf("%.1f s, SM clock %.0f MHz before and %.0f MHz after\n", (lab::wall_us() - begin) * 1e-6, b.ghz * 1e3,
                mhz_after);
  const bool written = write(json_path, json(b, mhz_after)) && write(csv_path, b.report.rows_csv());
  return written ? 0 : lab::kExitArguments;
}
