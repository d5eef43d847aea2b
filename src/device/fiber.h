// Stacks and switches of fibers (Boost.Context's fcontext). A warp that waits gives up the thread by one switch.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpgrind::device {

// Each stack has an inaccessible page below it; pages are committed when touched.
inline constexpr std::size_t kStackBytes = std::size_t{1} << 20;

struct Stack {
  std::uint8_t* low = nullptr;  // lowest usable byte
  std::uint8_t* top() const { return low + kStackBytes; }
};

// Stacks of one worker. They live until the pool goes, and are reused.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();
  bool take(Stack* stack);  // false: the host refuses memory
  // The guard page that holds the address, if it is one of ours.
  bool is_guard(std::uint64_t address) const;

 private:
  std::vector<std::uint8_t*> slabs_;
  std::size_t used_in_slab_ = 0;
};

// A suspended flow of control.
struct Continuation {
  boost::context::detail::fcontext_t context = nullptr;
  Continuation* target = nullptr;  // where its last switch went
  // Sanitizers must be told of switches.
  void* fake_stack = nullptr;
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  void* tsan_fiber = nullptr;
};

using FiberFunction = void (*)(void* argument);

// Makes `to` start at function(argument) when it is next switched to.
void prepare(Continuation& to, const Stack& stack, FiberFunction function, void* argument);
// Leaves `from` here and goes on in `to`; returns when somebody switches back to `from`.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void switch_to(Continuation& from, Continuation& to);
#else
inline void switch_to(Continuation& from, Continuation& to) {
  from.target = &to;
  const auto back = boost::context::detail::jump_fcontext(to.context, &from);
  static_cast<Continuation*>(back.data)->context = back.fctx;
}
#endif

}  // namespace warpgrind::device
