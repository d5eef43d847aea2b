// Stacks and switches of fibers. A warp that waits gives up the thread by one switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sanitizers.h"

namespace warpgrind::device {

// What the functions that machine code calls may use of a stack.
inline constexpr std::size_t kStackBytes = std::size_t{1} << 20;

// Each stack has inaccessible pages below it; pages are committed when touched.
struct Stack {
  std::uint8_t* low = nullptr;  // lowest usable byte
  std::size_t bytes = 0;
  std::uint8_t* top() const { return low + bytes; }
};

// Stacks of one worker, all of one size. They live until the pool goes or grows, and are reused.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();
  bool take(Stack* stack);  // false: the host refuses memory
  // Makes room for `frame_bytes` beside kStackBytes, rounded to its multiples. Untouched pages take no memory. Returns
  // true if the stacks were smaller before: all of them are then released, those in use too.
  bool grow(std::uint64_t frame_bytes);
  // Is the address in the guard pages of one of our stacks?
  bool is_guard(std::uint64_t address) const;

 private:
  std::size_t stacks_in_slab() const;
  std::size_t slab_bytes() const;
  void clear();

  std::size_t stack_bytes_ = kStackBytes;
  std::vector<std::uint8_t*> slabs_;
  std::size_t used_in_slab_ = 0;
};

// A suspended flow of control.
struct Continuation {
  void* stack_pointer = nullptr;   // on its top: where to go on
  Continuation* target = nullptr;  // where its last switch went
  // Sanitizers must be told of switches.
  void* fake_stack = nullptr;
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  void* tsan_fiber = nullptr;
#if defined(WG_THREAD_SANITIZER)
  bool owns_fiber = false;  // made by prepare(); else a host thread's
  Continuation() = default;
  ~Continuation();
  Continuation(const Continuation&) = delete;
  Continuation& operator=(const Continuation&) = delete;
#endif
};

// To be called before a stack is used from its top again: AddressSanitizer still has the frames that a fault abandoned
// there.
#if defined(WG_ADDRESS_SANITIZER)
void forget_frames(const Stack& stack);
#else
inline void forget_frames(const Stack&) {}
#endif

using FiberFunction = void (*)(void* argument);

// Makes `to` start at function(argument) when it is next switched to.
void prepare(Continuation& to, const Stack& stack, FiberFunction function, void* argument);

// Saves the stack and goes on in `to`; returns, when somebody jumps back, the continuation that did. The compiler saves
// the registers that are in use. Rounding modes of all fibers are the same. A jump instead of a call and a return keeps
// the processor's prediction of return addresses right: the warps of a block return to the same places.
static_assert(offsetof(Continuation, stack_pointer) == 0);
#if defined(__AVX512F__)
#error "jump() does not list xmm16 to xmm31 and the mask registers: build without AVX-512 (-march=x86-64-v3)"
#endif
inline Continuation* jump(Continuation* from, Continuation* to) {
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"  // the red zone
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%%rsi)\n\t"
      "movq (%%rdi), %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp"
      : "+S"(from), "+D"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
        "memory", "cc");
  return from;
}

// Leaves `from` here and goes on in `to`; returns when somebody switches back to `from`.
#if defined(WG_ADDRESS_SANITIZER) || defined(WG_THREAD_SANITIZER)
void switch_to(Continuation& from, Continuation& to);
#else
inline void switch_to(Continuation& from, Continuation& to) {
  jump(&from, &to);
}
#endif

}  // namespace warpgrind::device
