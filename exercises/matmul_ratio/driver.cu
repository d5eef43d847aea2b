#include "matmul_test.h"

void judge::test() {
  matmul_test({{32, 16, 16}, {20, 37, 9}, {50, 18, 40}}, 32);
}
