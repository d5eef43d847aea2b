// Devices of NVML: enumeration and properties, equal to those of the CUDA APIs, so that programs can match devices.
#include <fmt/core.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "nvml/call.h"
#include "semantics/device_properties.h"

namespace warpgrind::nvml {

namespace {

std::string uuid_of(unsigned index) {
  cudaDeviceProp properties;
  semantics::fill_properties(model(), static_cast<int>(index), properties);
  std::string out = "GPU-";
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", static_cast<unsigned char>(properties.uuid.bytes[i]));
  }
  return out;
}

unsigned bus_of(unsigned index) {
  cudaDeviceProp properties;
  semantics::fill_properties(model(), static_cast<int>(index), properties);
  return static_cast<unsigned>(properties.pciBusID);
}

// Device at a bus id: "0000:01:00.0", with a domain of four or eight digits, or without a domain.
nvmlReturn_t find_by_bus(const char* id, nvmlDevice_t* device) {
  unsigned domain = 0, bus = 0, slot = 0;
  if (!id || !device) return NVML_ERROR_INVALID_ARGUMENT;
  const bool whole = std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) == 3;
  if (!whole && std::sscanf(id, "%x:%x", &bus, &slot) != 2) return NVML_ERROR_INVALID_ARGUMENT;
  if (!whole) domain = 0;
  for (unsigned i = 0; i < device_count(); i++)
    if (domain == 0 && slot == 0 && bus_of(i) == bus) return *device = handle_of(i), NVML_SUCCESS;
  return NVML_ERROR_NOT_FOUND;
}

// PCI Express generation and lanes of the GPU's link to the host. False: the link is not PCI Express.
bool pcie_link(unsigned& generation, unsigned& lanes) {
  return std::sscanf(model().link_name.c_str(), "PCIe gen %u x%u", &generation, &lanes) == 2;
}
nvmlReturn_t link_generation(nvmlDevice_t device, unsigned* out) {
  return call_of(device, out, [&] {
    unsigned lanes = 0;
    return pcie_link(*out, lanes) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  });
}
nvmlReturn_t link_width(nvmlDevice_t device, unsigned* out) {
  return call_of(device, out, [&] {
    unsigned generation = 0;
    return pcie_link(generation, *out) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
  });
}

// Architecture of a compute capability (CUDA C++ Programming Guide, "Compute Capabilities").
nvmlDeviceArchitecture_t architecture(int major, int minor) {
  switch (major) {
    case 3:
      return NVML_DEVICE_ARCH_KEPLER;
    case 5:
      return NVML_DEVICE_ARCH_MAXWELL;
    case 6:
      return NVML_DEVICE_ARCH_PASCAL;
    case 7:
      return minor >= 5 ? NVML_DEVICE_ARCH_TURING : NVML_DEVICE_ARCH_VOLTA;
    case 8:
      return minor == 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE;
    case 9:
      return NVML_DEVICE_ARCH_HOPPER;
    case 10:
    case 11:
    case 12:
      return NVML_DEVICE_ARCH_BLACKWELL;
    default:
      return NVML_DEVICE_ARCH_UNKNOWN;
  }
}

nvmlBrandType_t brand(const std::string& name) {
  constexpr std::pair<const char*, nvmlBrandType_t> kBrands[] = {{"GeForce RTX", NVML_BRAND_GEFORCE_RTX},
                                                                 {"GeForce", NVML_BRAND_GEFORCE},
                                                                 {"TITAN RTX", NVML_BRAND_TITAN_RTX},
                                                                 {"TITAN", NVML_BRAND_TITAN},
                                                                 {"Tesla", NVML_BRAND_TESLA},
                                                                 {"Quadro RTX", NVML_BRAND_QUADRO_RTX},
                                                                 {"Quadro", NVML_BRAND_QUADRO},
                                                                 {"NVIDIA RTX", NVML_BRAND_NVIDIA_RTX}};
  for (const auto& [word, type] : kBrands)
    if (name.find(word) != std::string::npos) return type;
  return NVML_BRAND_NVIDIA;
}

nvmlReturn_t first_of_pci_info(nvmlDevice_t device, nvmlPciInfo_t* pci, std::size_t bytes) {
  if (!pci) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlPciInfo_t whole;
  const nvmlReturn_t error = nvmlDeviceGetPciInfo_v3(device, &whole);
  if (error == NVML_SUCCESS) std::memcpy(pci, &whole, bytes);
  return error;
}

}  // namespace

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  return call([&]() -> nvmlReturn_t {
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    *count = device_count();
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) {
  return nvmlDeviceGetCount_v2(count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  return call([&]() -> nvmlReturn_t {
    nvmlDevice_t const found = handle_of(index);
    if (!device || !found) return NVML_ERROR_INVALID_ARGUMENT;
    *device = found;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}
// Never finds a device: virtual GPUs have no serial numbers.
nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* device) {
  return call([&] { return serial && device ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT; });
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  return call([&]() -> nvmlReturn_t {
    if (!uuid || !device) return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < device_count(); i++)
      if (uuid_of(i) == uuid) return *device = handle_of(i), NVML_SUCCESS;
    return NVML_ERROR_NOT_FOUND;
  });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* device) {
  return call([&] { return find_by_bus(id, device); });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* id, nvmlDevice_t* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  return call_of(device, name, [&] { return copy_text(model().name.c_str(), name, length); });
}
nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* type) {
  return call_of(device, type, [&] { return *type = brand(model().name), NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  return call_of(device, index, [&] { return *index = device->index, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* number) {
  return nvmlDeviceGetIndex(device, number);
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  return call_of(device, uuid, [&] { return copy_text(uuid_of(device->index).c_str(), uuid, length); });
}
nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int* board) {
  return call_of(device, board, [&] { return *board = bus_of(device->index) << 8, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int* is) {
  return call_of(device, is, [&] { return *is = 0, NVML_SUCCESS; });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return call_of(device, pci, [&] {
    *pci = {};
    pci->bus = bus_of(device->index);
    std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT,
                  NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(pci));
    std::snprintf(pci->busId, sizeof pci->busId, NVML_DEVICE_PCI_BUS_ID_FMT, NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(pci));
    return NVML_SUCCESS;
  });
}
// Earlier versions have a shorter structure: v2's ends with the subsystem id, v1's just before it.
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return first_of_pci_info(device, pci, offsetof(nvmlPciInfo_t, busId));
}
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  return first_of_pci_info(device, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
}

// ---- Two devices
nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t first, nvmlDevice_t second, int* same) {
  return call_of(first, same, [&]() -> nvmlReturn_t {
    if (!valid(second)) return NVML_ERROR_INVALID_ARGUMENT;
    *same = first == second;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second,
                                                 nvmlGpuTopologyLevel_t* level) {
  return call_of(first, level, [&]() -> nvmlReturn_t {
    if (!valid(second)) return NVML_ERROR_INVALID_ARGUMENT;
    *level = first == second ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_SYSTEM;
    return NVML_SUCCESS;
  });
}
// As in cudaDeviceGetP2PAttribute: all GPUs can access each other's memory.
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second, nvmlGpuP2PCapsIndex_t what,
                                    nvmlGpuP2PStatus_t* status) {
  return call_of(first, status, [&]() -> nvmlReturn_t {
    if (!valid(second) || first == second || what >= NVML_P2P_CAPS_INDEX_UNKNOWN) return NVML_ERROR_INVALID_ARGUMENT;
    *status = what == NVML_P2P_CAPS_INDEX_NVLINK ? NVML_P2P_STATUS_NOT_SUPPORTED : NVML_P2P_STATUS_OK;
    return NVML_SUCCESS;
  });
}

// ---- Properties of the GPU model
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return call_of(device, major, [&]() -> nvmlReturn_t {
    if (!minor) return NVML_ERROR_INVALID_ARGUMENT;
    *major = model().cc_major;
    *minor = model().cc_minor;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t* out) {
  return call_of(device, out, [&] { return *out = architecture(model().cc_major, model().cc_minor), NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int* cores) {
  return call_of(device, cores, [&] { return *cores = model().sm_count * model().cores_fp32_per_sm, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int* bits) {
  return call_of(device, bits, [&] { return *bits = model().memory_bus_bits, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t* type) {
  return call_of(device, type, [&] {
    unsigned generation = 0, lanes = 0;
    *type = pcie_link(generation, lanes) ? NVML_BUS_TYPE_PCIE : NVML_BUS_TYPE_UNKNOWN;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* generation) {
  return link_generation(device, generation);
}
nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* generation) {
  return link_generation(device, generation);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int* generation) {
  return link_generation(device, generation);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* width) {
  return link_width(device, width);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int* width) {
  return link_width(device, width);
}

}  // namespace warpgrind::nvml
