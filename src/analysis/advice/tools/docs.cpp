// Prints the document that is made from the table of rules: warpgrind-advice-docs > docs/rules.md
#include <cstdio>

#include "advice/rules.h"

int main() {
  std::fputs(warpgrind::advice::rules_as_markdown().c_str(), stdout);
  return 0;
}
