#include "results/finding.h"

namespace warpgrind::results {

const char* name(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "INFO";
    case Severity::warning:
      return "WARNING";
    case Severity::error:
      break;
  }
  return "ERROR";
}

}  // namespace warpgrind::results
