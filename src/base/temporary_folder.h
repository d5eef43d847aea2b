// A folder in the system's place for temporary files, removed with everything in it.
#pragma once

#include <string>

namespace warpgrind {

class TemporaryFolder {
 public:
  // `TMPDIR` decides where, as everywhere; a folder of that name that is not there is a problem, not an exception.
  // Folders that a killed process (kill -9) of this user left there go now: nobody holds the lock in them.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path;     // empty: it could not be made
  std::string problem;  // then: where, and why

 private:
  int lock_ = -1;
};

}  // namespace warpgrind
