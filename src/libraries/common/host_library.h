// A library of the host that does the work (OpenBLAS, FFTW): opened at the first call that needs it, so that programs
// without such calls need it not.
#pragma once

#include <initializer_list>
#include <string>

namespace warpgrind::libraries {

class HostLibrary {
 public:
  // The first of the files that can be opened. package: of Debian, for the message.
  HostLibrary(std::initializer_list<const char*> files, const char* package);
  // Empty: it is there.
  const std::string& missing() const { return missing_; }
  // nullptr: it has none of that name, and missing() says so from then on.
  void* find(const char* name);
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(find(name));
  }

 private:
  void* handle_ = nullptr;
  std::string missing_;
  std::string file_;
};

}  // namespace warpgrind::libraries
