#include "block_sum_test.h"

void judge::test() {
  block_sum_test({256, 1000}, 1);
}
