// Signal mask of the calling thread, changed until the end of a scope.
#pragma once

#include <signal.h>

namespace warpgrind {

inline sigset_t all_signals() {
  sigset_t set;
  sigfillset(&set);
  return set;
}

class SignalMask {
 public:
  // Blocks the signals of `set` in addition to those that are blocked already.
  static SignalMask block(const sigset_t& set) { return SignalMask(SIG_BLOCK, set); }
  // Blocks the signals of `set` and no other.
  static SignalMask replace(const sigset_t& set) { return SignalMask(SIG_SETMASK, set); }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }  // leaves errno as it is
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  SignalMask(int how, const sigset_t& set) { pthread_sigmask(how, &set, &before_); }

  sigset_t before_;
};

}  // namespace warpgrind
