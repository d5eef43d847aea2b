#include "driver_test.h"

#include <cstdlib>

namespace {

struct Options {
  // As `warpgrind run --devices 2` does.
  Options() { ::setenv("WARPGRIND_OPTIONS", R"({"gpu": "h200", "devices": 2, "threads": 2, "quiet": true})", 1); }
} options;

}  // namespace
