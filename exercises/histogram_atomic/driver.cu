#include "histogram_test.h"

void judge::test() {
  histogram_test();
}
