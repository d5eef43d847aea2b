// Properties and attributes of a GPU model, as a program sees them. include/warpgrind/device_attributes.inc has their
// values. Those that the models do not have (texture limits, ids) are the same for all GPUs of a compute capability.
#include "semantics/device_properties.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace warpgrind::semantics {

namespace {

std::uint64_t persisting_l2(const GpuModel& model) {
  return model.cc_major >= 8 ? std::min<std::uint64_t>(model.l2_bytes * 5 / 8, 1u << 30) : 0;
}

std::uint64_t at_most_int(std::uint64_t value) {
  return std::min<std::uint64_t>(value, 0x7fffffff);
}

// A GPU that is not on a PCIe link lies beside the host's cores, and shares their memory.
bool is_integrated(const GpuModel& model) {
  return !model.link_name.starts_with("PCIe ");
}

template <class Field, class Value>
void set(Field& field, Value value) {
  field = static_cast<Field>(value);
}

// Chooses by compute capability; device_attributes.inc says which.
auto generations_of(const GpuModel& m) {
  return [&m](int tesla, int fermi, int kepler, int pascal) {
    if (m.cc_major >= 6) return pascal;
    if (m.cc_major >= 3) return kepler;
    return m.cc_major == 2 ? fermi : tesla;
  };
}

}  // namespace

void fill_properties(const GpuModel& m, int device, cudaDeviceProp& p) {
  const auto by_generation = generations_of(m);
  std::memset(&p, 0, sizeof p);
  std::snprintf(p.name, sizeof p.name, "%s", m.name.c_str());
  std::snprintf(p.uuid.bytes, sizeof p.uuid.bytes, "warpgrind%d", device);
  p.totalGlobalMem = m.memory_bytes;
#define WG_ATTRIBUTE(number, runtime_name, driver_name, field, value) set(p.field, value);
#include "warpgrind/device_attributes.inc"
}

bool device_attribute(const GpuModel& m, int device, int attribute, int& out) {
  const auto by_generation = generations_of(m);
  switch (attribute) {
#define WG_ATTRIBUTE(number, runtime_name, driver_name, field, value) WG_ATTRIBUTE_ALONE(number, , , value)
#define WG_ATTRIBUTE_ALONE(number, runtime_name, driver_name, value) \
  case number:                                                       \
    out = static_cast<int>(value);                                   \
    return true;
#define WG_DRIVER_ATTRIBUTE(number, driver_name, value) WG_ATTRIBUTE_ALONE(number, , driver_name, value)
#include "warpgrind/device_attributes.inc"
    default:
      return false;
  }
}

}  // namespace warpgrind::semantics
