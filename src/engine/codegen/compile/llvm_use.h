// Marks a thread that uses LLVM, so that exit() does not destroy LLVM's static objects under it. exit() destroys them
// before it calls the handlers of the program and of libcudart, because LLVM is loaded later. So an exit handler, which
// is registered after LLVM has made its objects, waits for the threads that use LLVM. Later uses are refused.
#pragma once

namespace warpgrind::jit {

class LlvmUse {
 public:
  LlvmUse();
  ~LlvmUse();
  LlvmUse(const LlvmUse&) = delete;
  LlvmUse& operator=(const LlvmUse&) = delete;
  bool allowed() const { return allowed_; }  // false: another thread has called exit()

 private:
  bool allowed_;
};

}  // namespace warpgrind::jit
