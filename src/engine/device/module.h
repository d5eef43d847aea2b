// A PTX module on one device: addresses of its variables, and its compiled kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/state.h"
#include "flow/definitions.h"
#include "jit/layout.h"
#include "ptx/ast.h"

namespace warpgrind::device {

// Address of a function in device memory and registers: its index + 1 (0 is a null pointer).
inline std::uint64_t function_handle(std::uint32_t function) {
  return std::uint64_t{function} + 1;
}

class LoadedModule {
 public:
  LoadedModule(std::shared_ptr<const ptx::Module> module, int device, PlacedVariables placed)
      : module_(std::move(module)), device_(device), placed_(std::move(placed)) {}
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  Status place();  // allocates the variables and writes their initial values
  // In place of place(): the variables are at these addresses, by index, with their values.
  Status adopt(std::vector<std::uint64_t> globals);
  const ptx::Module& module() const { return *module_; }
  const std::shared_ptr<const ptx::Module>& shared_module() const { return module_; }
  const std::vector<std::uint64_t>& globals() const { return globals_; }  // by variable index; 0: in shared memory
  std::optional<Device::Allocation> variable(const std::string& name) const;
  void for_variables(const std::function<void(const events::Allocation&)>& f) const;  // variables in memory
  std::uint64_t bytes() const { return bytes_; }
  // Built at the first call; thread-safe.
  const flow::Definitions& definitions(std::uint32_t function);
  const jit::KernelLayout& layout(std::uint32_t entry);
  bool calls(const char* function) const;  // true if it calls this function, declared but not defined
  bool launches_kernels() const;           // dynamic parallelism

  // Compiled kernels: by function, lane shape and options.
  struct Key {
    std::uint32_t function;
    jit::LaneShape shape;
    bool counters, every_access, watched, edges, synchronization, definedness, clusters;
    jit::StopAt stops;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::unique_ptr<KernelRecord>> kernels;

 private:
  Status initialise(std::uint32_t index);

  const std::shared_ptr<const ptx::Module> module_;
  const int device_;
  const PlacedVariables placed_;
  std::vector<std::uint64_t> globals_;
  std::uint64_t bytes_ = 0;
  std::mutex facts_mutex_;
  std::map<std::uint32_t, flow::Definitions> definitions_;
  std::map<std::uint32_t, jit::KernelLayout> layouts_;
};

// Loads a module of another process: its variables are in memory already, with their values. globals:
// LoadedModule::globals() there.
Result<LoadedModule*> adopt_module(Device& device, std::shared_ptr<const ptx::Module> module,
                                   std::vector<std::uint64_t> globals);

}  // namespace warpgrind::device
