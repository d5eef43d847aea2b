// Stack pools of workers, and preparation and switches of fibers.
#include "device/fiber.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/assert.h"

#if defined(WG_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(WG_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace warpgrind::device {

namespace {

// Size of the guard below a stack. Machine code touches each page of a frame (probe-stack, codegen/kernel/emit.cpp).
// The functions it calls do not, but their frames are far smaller than this. 17 pages: with stacks at multiples of 64
// KiB, the warps' spill slots would collide in the caches.
constexpr std::size_t kGuard = 17 * 4096;
constexpr std::size_t kStacksInSlab = 32;                   // fewer if the stacks are large (recursion)
constexpr std::size_t kLargestSlab = std::size_t{1} << 30;  // bytes
// Tops at the same offset in a page would share the sets of the L1 cache. A warp would also wait for the stores of the
// previous warp, which look like its own in the lowest 12 bits of their addresses.
constexpr std::size_t kStagger = 320, kStaggers = 12;

// Entry data at the top of a new stack.
struct FiberEntry {
  FiberFunction function;
  void* argument;
};

void arrive(Continuation* from, bool first) {
#if defined(WG_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(first ? nullptr : from->target->fake_stack, &from->stack_bottom, &from->stack_size);
#else
  (void)from;
  (void)first;
#endif
}

// jump() leaves its two arguments in the registers of a function's second and first argument.
void enter(Continuation* self, Continuation* from) {
  const FiberEntry* entry =
      reinterpret_cast<const FiberEntry*>(static_cast<const std::uint8_t*>(self->stack_bottom) + self->stack_size);
  const FiberFunction function = entry->function;
  void* const argument = entry->argument;
  arrive(from, true);
  function(argument);
  WG_ASSERT(!"a fiber never returns");
}

}  // namespace

StackPool::~StackPool() {
  clear();
}

std::size_t StackPool::stacks_in_slab() const {
  return std::clamp<std::size_t>(kLargestSlab / (stack_bytes_ + kGuard), 1, kStacksInSlab);
}

std::size_t StackPool::slab_bytes() const {
  return (stack_bytes_ + kGuard) * stacks_in_slab();
}

void StackPool::clear() {
  for (std::uint8_t* slab : slabs_) munmap(slab, slab_bytes());
  slabs_.clear();
  used_in_slab_ = 0;
}

bool StackPool::grow(std::uint64_t frame_bytes) {
  const std::size_t wanted = kStackBytes + (frame_bytes + kStackBytes / 2) / kStackBytes * kStackBytes;
  if (wanted <= stack_bytes_) return false;
  clear();
  stack_bytes_ = wanted;
  return true;
}

bool StackPool::take(Stack* stack) {
  if (slabs_.empty() || used_in_slab_ == stacks_in_slab()) {
    void* p = mmap(nullptr, slab_bytes(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (p == MAP_FAILED) return false;
    madvise(p, slab_bytes(), MADV_NOHUGEPAGE);
    slabs_.push_back(static_cast<std::uint8_t*>(p));
    used_in_slab_ = 0;
  }
  std::uint8_t* guard = slabs_.back() + (stack_bytes_ + kGuard) * used_in_slab_;
  if (mprotect(guard, kGuard, PROT_NONE) != 0) return false;
  ++used_in_slab_;
  const std::size_t stagger = kStagger * ((slabs_.size() * stacks_in_slab() + used_in_slab_) % kStaggers);
  *stack = {guard + kGuard, stack_bytes_ - stagger};
  return true;
}

bool StackPool::is_guard(std::uint64_t address) const {
  for (const std::uint8_t* slab : slabs_) {
    const auto first = reinterpret_cast<std::uint64_t>(slab);
    if (address >= first && address < first + slab_bytes()) return (address - first) % (stack_bytes_ + kGuard) < kGuard;
  }
  return false;
}

#if defined(WG_ADDRESS_SANITIZER)
void forget_frames(const Stack& stack) {
  __asan_unpoison_memory_region(stack.low, stack.bytes);
}
#endif

void prepare(Continuation& to, const Stack& stack, FiberFunction function, void* argument) {
  forget_frames(stack);
  auto* entry = reinterpret_cast<FiberEntry*>(stack.top() - 64);
  *entry = {function, argument};
  to.stack_bottom = stack.low;
  to.stack_size = stack.bytes - 64;
  // enter() begins as if called: its return address, 0, lies 8 bytes below a multiple of 16.
  auto* start = reinterpret_cast<void**>(stack.top() - 64) - 2;
  start[0] = reinterpret_cast<void*>(&enter);
  start[1] = nullptr;
  to.stack_pointer = start;
#if defined(WG_THREAD_SANITIZER)
  if (to.owns_fiber) __tsan_destroy_fiber(to.tsan_fiber);
  to.tsan_fiber = __tsan_create_fiber(0);
  to.owns_fiber = true;
#endif
}

#if defined(WG_THREAD_SANITIZER)
Continuation::~Continuation() {
  if (owns_fiber) __tsan_destroy_fiber(tsan_fiber);
}
#endif

#if defined(WG_ADDRESS_SANITIZER) || defined(WG_THREAD_SANITIZER)
void switch_to(Continuation& from, Continuation& to) {
  from.target = &to;
#if defined(WG_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_size);
#endif
#if defined(WG_THREAD_SANITIZER)
  from.tsan_fiber = __tsan_get_current_fiber();  // a worker's main flow may be on another host thread in each launch
  __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
  arrive(jump(&from, &to), false);
}
#endif

}  // namespace warpgrind::device
