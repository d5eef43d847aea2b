// Folder for temporary files, removed with its contents by the destructor.
#pragma once

#include <string>

namespace warpgrind {

class TemporaryFolder {
 public:
  // The parent folder is `TMPDIR`, else /tmp. If it does not exist, `problem` is set. The constructor also removes
  // folders that killed processes (kill -9) of this user left there: no process holds the lock in them.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path;     // empty: it could not be created
  std::string problem;  // the reason, if `path` is empty

 private:
  int lock_ = -1;
};

}  // namespace warpgrind
