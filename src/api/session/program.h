// CUDA code of one binary that registered itself (an executable or a shared library). It is unpacked, linked and loaded
// at its first use.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "fatbin/fatbin.h"
#include "ptx/ast.h"
#include "sass/code.h"
#include "sass/spills.h"

namespace warpgrind::session {

// Resources that a kernel needs, known without compiling it.
struct KernelResources {
  std::uint32_t registers = 0;   // per thread
  bool registers_exact = false;  // from the binary's machine code; else estimated from the PTX
  std::uint64_t static_shared = 0;
  std::uint64_t local_bytes = 0;  // per thread: the PTX's local memory, or the machine code's stack
  std::uint64_t spill_bytes = 0;  // part of it for spilled registers; modelled without machine code
  std::shared_ptr<const fatbin::MachineCode> machine_code;  // null: the binary has none
  std::uint64_t constant_bytes = 0;  // of the .const variables that the kernel, or a function it calls, uses
};

// A kernel as its PTX declares it; looked up by name once.
struct KernelEntry {
  std::string name;            // in PTX
  std::uint32_t function = 0;  // index into module().functions
  const ptx::Function* text = nullptr;
  std::vector<jit::ParameterLayout> parameters;
  KernelResources resources;
  std::optional<Error> beyond_model;  // set if it has an instruction that the modelled GPU lacks
};

class Program {
 public:
  // Called once, at the first use of the program. Code that was registered until then belongs to the program.
  using Entries = std::function<Result<std::vector<fatbin::FatbinEntry>>()>;
  // `cc`: the modelled compute capability times 10.
  Program(Entries entries, std::uint32_t cc, std::string name);

  // The linked module, parsed at the first call. A failure is permanent.
  Result<std::shared_ptr<const ptx::Module>> module();
  // The module on `device`, loaded at the first call for it.
  Result<device::LoadedModule*> loaded(device::Device& device);
  // In place of loaded(): the module's variables are in memory already (device/module.h).
  Status adopt(device::Device& device, std::vector<std::uint64_t> globals);
  // What the binary holds, after module().
  const std::vector<fatbin::FatbinEntry>& entries() const { return entries_; }
  const std::string& name() const { return name_; }
  // Puts a __managed__ variable of the program into this host memory, on every device, and sets its initial value.
  // Call before the module is loaded.
  Status place(const std::string& variable, void* host);
  // Unloads the module from the device (cudaDeviceReset); the next use loads it again.
  void unload(device::Device& device);

  // Index into module().functions of an entry or function with a body; nullopt: there is none of that name.
  std::optional<std::uint32_t> function(const std::string& name);
  // What ptxas chose, from the binary's machine code for the GPU nearest to the model. Null: there is none.
  std::shared_ptr<const fatbin::MachineCode> machine_code(const std::string& kernel);
  Result<KernelResources> resources(const std::string& kernel);
  // The kernel's spilled registers. `code`: its modelled machine code.
  sass::Spills spills(const std::string& kernel, const sass::Code& code);
  // The entry lives as long as the program.
  Result<const KernelEntry*> kernel(const std::string& name);
  // Functions that the program calls but that neither it nor the virtual GPU defines. Call after a device was created.
  std::vector<std::string> undefined_functions();
  // True if an image is used although the driver would refuse its PTX for the model.
  bool unfit_for_model() const { return unfit_; }
  // True if, in addition, there is no machine code for the model, so that the real GPU would refuse the program.
  bool refused_by_model() const { return refused_by_model_; }
  // False if module() found no code that this GPU could run.
  bool has_image() const { return has_image_; }

 private:
  Result<std::shared_ptr<const ptx::Module>> build();
  void read_machine_code();
  std::optional<Error> beyond_model(std::uint32_t function, const ptx::Module& module) const;

  Entries read_entries_;
  std::vector<fatbin::FatbinEntry> entries_;  // set by build()
  std::uint32_t cc_;
  std::string name_;
  std::atomic<bool> unfit_{false}, refused_by_model_{false}, has_image_{true};
  std::mutex mutex_;
  std::optional<Result<std::shared_ptr<const ptx::Module>>> module_;
  std::map<std::string, std::uint32_t> functions_;
  device::PlacedVariables placed_;
  std::map<int, device::LoadedModule*> loaded_;  // by device ordinal
  std::optional<std::map<std::string, std::shared_ptr<const fatbin::MachineCode>>> machine_code_;
  std::map<std::string, KernelResources> resources_;
  std::map<std::string, KernelEntry> kernels_;
};

}  // namespace warpgrind::session
