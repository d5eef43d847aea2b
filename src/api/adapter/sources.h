// Source files as the protocol describes them. Sources that a program gave to NVRTC as texts are stored files
// (nvrtc/debugged.h); a client that cannot read files asks for their contents by `sourceReference`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "dap/channel.h"

namespace warpgrind::adapter {

using dap::Json;

class Sources {
 public:
  Json describe(const std::string& path);  // DAP's type Source
  // The path that a Source of the client names; empty: none.
  std::string path_of(const Json& source) const;
  static Result<std::string> read(const std::string& path);

 private:
  std::vector<std::string> stored_;  // sourceReference N is stored_[N - 1]
};

}  // namespace warpgrind::adapter
