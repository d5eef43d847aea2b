#include "codegen/compile/llvm_use.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace warpgrind::jit {

namespace {

std::atomic<int> g_llvm_users{0};
std::atomic<bool> g_llvm_ends{false};
// A thread must not wait for its own use, which a signal handler that calls exit() may have interrupted.
thread_local int t_llvm_uses = 0;
thread_local bool t_calls_exit = false;  // programs launch kernels in exit handlers, too

void wait_for_other_users() {
  t_calls_exit = true;
  g_llvm_ends = true;
  while (g_llvm_users > t_llvm_uses) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Only the calling thread lives on in a forked child.
void forget_other_users() {
  g_llvm_users = t_llvm_uses;
}

}  // namespace

LlvmUse::LlvmUse() {
  // Counts before it reads the flag: wait_for_other_users() does the reverse, so that one of the two sees the other.
  ++g_llvm_users;
  ++t_llvm_uses;
  allowed_ = !g_llvm_ends || t_calls_exit;
}

LlvmUse::~LlvmUse() {
  static const bool registered = [] {
    ::pthread_atfork(nullptr, nullptr, forget_other_users);
    return std::atexit(wait_for_other_users) == 0;
  }();
  static_cast<void>(registered);
  --t_llvm_uses;
  --g_llvm_users;
}

}  // namespace warpgrind::jit
