#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace warpgrind {

void assert_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr,
               "warpgrind: internal error: %s does not hold (%s:%d).\n"
               "  This is a bug in warpgrind, not in your program. Please report it with the program that shows it.\n",
               condition, file, line);
  std::abort();
}

}  // namespace warpgrind
