#include "transpose_test.h"

void judge::test() {
  transpose_test(256);
}
