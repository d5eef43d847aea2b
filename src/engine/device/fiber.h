// Fibers: stacks and switches. A waiting warp gives up the thread by one switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sanitizers.h"

namespace warpgrind::device {

// Stack bytes for the functions that machine code calls.
inline constexpr std::size_t kStackBytes = std::size_t{1} << 20;

// Each stack has inaccessible pages below it; pages are committed when touched.
struct Stack {
  std::uint8_t* low = nullptr;  // lowest usable byte
  std::size_t bytes = 0;
  std::uint8_t* top() const { return low + bytes; }
};

// Stacks of one worker, all of one size. They are reused, and live until the pool is destroyed or grows.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();
  bool take(Stack* stack);  // false: the host refuses memory
  // Adds room for `frame_bytes` to kStackBytes, rounded to a multiple of it. Untouched pages take no memory. Returns
  // true if the stacks were smaller before: all of them are then released, those in use too.
  bool grow(std::uint64_t frame_bytes);
  // Whether the address is in the guard pages of one of these stacks.
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
  void* stack_pointer = nullptr;   // the resume address is on its top
  Continuation* target = nullptr;  // destination of its last switch
  // For sanitizers, which must be informed of switches.
  void* fake_stack = nullptr;
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  void* tsan_fiber = nullptr;
#if defined(WG_THREAD_SANITIZER)
  bool owns_fiber = false;  // created by prepare(); else it belongs to a host thread
  Continuation() = default;
  ~Continuation();
  Continuation(const Continuation&) = delete;
  Continuation& operator=(const Continuation&) = delete;
#endif
};

// Call before a stack is used from its top again: AddressSanitizer still tracks the frames that a fault abandoned
// there.
#if defined(WG_ADDRESS_SANITIZER)
void forget_frames(const Stack& stack);
#else
inline void forget_frames(const Stack&) {}
#endif

using FiberFunction = void (*)(void* argument);

// Makes `to` start with function(argument) at the next switch to it.
void prepare(Continuation& to, const Stack& stack, FiberFunction function, void* argument);

// Saves the stack and resumes `to`. When another continuation jumps back, it returns that one. The compiler saves the
// registers in use. All fibers use the same rounding mode. A jump, unlike a call with a return, keeps the processor's
// return prediction right: the warps of a block return to the same places.
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

// Suspends `from` here and resumes `to`; returns when `from` is resumed.
#if defined(WG_ADDRESS_SANITIZER) || defined(WG_THREAD_SANITIZER)
void switch_to(Continuation& from, Continuation& to);
#else
inline void switch_to(Continuation& from, Continuation& to) {
  jump(&from, &to);
}
#endif

}  // namespace warpgrind::device
