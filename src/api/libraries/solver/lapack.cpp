// Addresses of LAPACK's routines in OpenBLAS.
#include "libraries/solver/lapack.h"

#include "libraries/products/openblas.h"

namespace warpgrind::libraries::solver {

namespace {

struct Names {
  const char *real, *complex;
};
constexpr Names kNames[] = {
#define WG_SAME(name) {#name, #name},
#define WG_TWO(real, complex) {#real, #complex},
    WG_LAPACK_ROUTINES(WG_SAME, WG_TWO)
#undef WG_SAME
#undef WG_TWO
};

struct Table {
  void* address[std::size(kNames)][4] = {};
  std::string missing;
};

Table load() {
  Table table;
  table.missing = blas::openblas().missing;
  for (std::size_t i = 0; table.missing.empty() && i < std::size(kNames); ++i)
    for (int type = 0; type < 4; ++type) {
      const std::string name = std::string(1, "sdcz"[type]) + (type < 2 ? kNames[i].real : kNames[i].complex) + "_";
      table.address[i][type] = blas::find_in_openblas(name.c_str());
      if (!table.address[i][type]) table.missing = "OpenBLAS has no " + name;
    }
  return table;
}
const Table& table() {
  static const auto* loaded = new Table(load());
  return *loaded;
}

}  // namespace

void* lapack_address(Routine routine, int type) {
  return table().address[static_cast<std::size_t>(routine)][type];
}
const std::string& lapack_missing() {
  return table().missing;
}

}  // namespace warpgrind::libraries::solver
