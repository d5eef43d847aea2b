// A library of the host that does the computation (OpenBLAS, FFTW). It is opened at the first call that needs it, so
// that programs without such calls run without it.
#pragma once

#include <initializer_list>
#include <string>

namespace warpgrind::libraries {

class HostLibrary {
 public:
  // Opens the first file that can be opened. package: Debian's package, for the message.
  HostLibrary(std::initializer_list<const char*> files, const char* package);
  // Message about a missing library or function; empty if all were found.
  const std::string& missing() const { return missing_; }
  // nullptr: the library has no such function. missing() reports the first one that was not found.
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
