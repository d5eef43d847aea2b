// The CUDA code of all binaries that registered themselves in the process, in the order of their registration.
// Thread-safe. Lives as long as the session; so do its programs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "session/program.h"
#include "session/run.h"

namespace warpgrind::session {

class Programs {
 public:
  // All arguments outlive the programs.
  Programs(const RunOptions& options, const GpuModel& model, Run& run);

  // Announces the run, and reads the code at its first use, if it can wait until then.
  Result<Program*> add(const void* fatbin_wrapper);
  Result<Program*> add(std::vector<fatbin::FatbinEntry> entries, const std::string& name);
  void unload(device::Device& gpu);  // cudaDeviceReset: variables get their initial values again

 private:
  Result<Program*> add(Program::Entries entries, const std::string& name);

  const RunOptions& options_;
  const GpuModel& model_;
  Run& run_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Program>> programs_;
};

}  // namespace warpgrind::session
