// Program of all tests of the driver API, with two virtual GPUs.
#include "driver_test.h"

#include <cstdlib>

namespace {

struct Options {
  // The same as `warpgrind run --devices 2`.
  Options() { ::setenv("WARPGRIND_OPTIONS", R"({"gpu": "h200", "devices": 2, "threads": 2, "quiet": true})", 1); }
} options;

}  // namespace
