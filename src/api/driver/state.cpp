// Contexts of the driver API, the calling thread's context stack, and the initialisation state of the driver.
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "base/assert.h"
#include "base/per_thread.h"
#include "driver/driver.h"

namespace warpgrind::driver {

namespace {

struct Contexts {
  std::mutex mutex;
  std::vector<std::unique_ptr<Context>> all;  // includes destroyed ones
  std::vector<Context*> primary;              // by device
};
Contexts& contexts() {
  static auto* contexts = new Contexts;  // never destroyed, like the session
  return *contexts;
}

Context& add(int device, bool primary, unsigned flags) {
  auto context = std::make_unique<Context>();
  context->device = device;
  context->primary = primary;
  context->flags = flags;
  context->id = contexts().all.size() + 1;
  contexts().all.push_back(std::move(context));
  return *contexts().all.back();
}

std::atomic<bool> g_initialized{false};

struct ThreadContexts {
  std::vector<Context*> stack;
  unsigned device_choices = 0;  // the runtime's count of device selections at the last in_step()
};
// Updates the thread's stack after runtime calls. cudaSetDevice replaced the current context. Any runtime call that
// works on a device made its primary context current if the stack was empty.
ThreadContexts& in_step() {
  ThreadContexts& thread = per_thread<ThreadContexts>();
  const semantics::ThreadState& runtime = semantics::thread_state();
  const bool chosen = runtime.device_choices != thread.device_choices;
  thread.device_choices = runtime.device_choices;
  if (chosen && !thread.stack.empty()) thread.stack.pop_back();
  if (chosen || (runtime.uses_runtime && thread.stack.empty()))
    thread.stack.push_back(&primary_context(runtime.device));
  return thread;
}

void update_runtime_state(const ThreadContexts& thread) {
  semantics::ThreadState& runtime = semantics::thread_state();
  runtime.uses_runtime = false;
  runtime.in_own_context = !thread.stack.empty() && !thread.stack.back()->primary;
  if (!thread.stack.empty()) runtime.device = thread.stack.back()->device;
}

}  // namespace

Context& primary_context(int device) {
  Contexts& c = contexts();
  const std::lock_guard lock(c.mutex);
  if (c.primary.empty()) {
    const auto count = static_cast<std::size_t>(session::devices().count());
    for (std::size_t i = 0; i < count; i++) c.primary.push_back(&add(static_cast<int>(i), true, 0));
  }
  WG_ASSERT(static_cast<std::size_t>(device) < c.primary.size());
  return *c.primary[static_cast<std::size_t>(device)];
}

Context& create_context(int device, unsigned flags) {
  primary_context(device);  // primary contexts get the first ids
  session::activity().device_used();
  Contexts& c = contexts();
  const std::lock_guard lock(c.mutex);
  Context& made = add(device, false, flags);
  made.uses = 1;
  return made;
}

CUresult check(const Context* context) {
  Contexts& c = contexts();
  const std::lock_guard lock(c.mutex);
  const auto is = [&](const std::unique_ptr<Context>& one) { return one.get() == context; };
  if (std::none_of(c.all.begin(), c.all.end(), is)) return CUDA_ERROR_INVALID_CONTEXT;
  return is_alive(*context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

bool is_alive(const Context& context) {
  return context.primary ? semantics::context(context.device).is_active() : context.alive.load();
}

Context* current_context() {
  const ThreadContexts& thread = in_step();
  return thread.stack.empty() ? nullptr : thread.stack.back();
}

void push_context(Context& context) {
  ThreadContexts& thread = in_step();
  thread.stack.push_back(&context);
  update_runtime_state(thread);
}

Context* pop_context() {
  ThreadContexts& thread = in_step();
  if (thread.stack.empty()) return nullptr;
  Context* const top = thread.stack.back();
  thread.stack.pop_back();
  update_runtime_state(thread);
  return top;
}

void replace_context(Context* context) {
  ThreadContexts& thread = in_step();
  if (!thread.stack.empty()) thread.stack.pop_back();
  if (context) thread.stack.push_back(context);
  update_runtime_state(thread);
}

bool initialized() {
  if (g_initialized.load(std::memory_order_acquire)) return true;
  if (session::Session::exists() && session::run().used()) set_initialized();
  return g_initialized.load(std::memory_order_acquire);
}

void set_initialized() {
  g_initialized.store(true, std::memory_order_release);
}

CUresult enter(Needs needs) {
  if (needs == Needs::nothing) {
    semantics::begin_call();
    return CUDA_SUCCESS;
  }
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (const cudaError_t error = semantics::enter_call(); error != cudaSuccess) return driver_error(error);
  if (needs == Needs::initialization) return CUDA_SUCCESS;
  const Context* context = current_context();
  if (!context) return needs == Needs::context ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
  return is_alive(*context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult leave(CUresult error, const char* call) {
  // NOT_READY is an answer, not a failure.
  if (error == CUDA_SUCCESS || error == CUDA_ERROR_NOT_INITIALIZED || error == CUDA_ERROR_NOT_READY) return error;
  semantics::note_error(semantics::call_name(call), error_name(error), error_text(error));
  // The driver API has no last error that a program could read later: this result is the only one.
  if (const int device = semantics::thread_state().refused_launch_device; device >= 0)
    semantics::forget_refused_launch(device);
  return error;
}

}  // namespace warpgrind::driver
