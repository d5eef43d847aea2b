#include "matmul_test.h"

void judge::test() {
  matmul_test({{16, 16, 16}, {20, 37, 9}, {1, 70, 33}}, 16);
}
