// Program that prints the documents generated from tables: warpgrind-docs counters > docs/counters.md
#include <cstdio>
#include <cstring>

#include "counters/metric_table.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "counters") == 0) {
    std::fputs(warpgrind::counters::metrics_as_markdown().c_str(), stdout);
    return 0;
  }
  std::fputs("usage: warpgrind-docs counters > docs/counters.md\n", stderr);
  return 2;
}
