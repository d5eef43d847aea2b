// Rows of the host's timeline, and detection of host clocks read around launches.
#include "semantics/call_scope.h"

#include <atomic>
#include <utility>

#include "semantics/executor.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

namespace {

struct CallingThread {
  unsigned depth = 0;                                   // nested calls in progress
  unsigned number = 0;                                  // 0: no call so far
  bool launched = false, waited = false, read = false;  // since the last clock read (`read`: ever)
};
thread_local CallingThread t_thread;

std::atomic<unsigned> g_threads{0};
std::atomic<std::size_t> g_rows{0};
std::atomic<bool> g_launches{false}, g_no_more{false};
std::atomic<const char*> g_around{nullptr};

unsigned thread_number() {
  if (t_thread.number == 0) t_thread.number = ++g_threads;
  return t_thread.number;
}

bool keeps_rows() {
  return session::Session::exists() && session::run().used() && !session::run().broken_by_fork() &&
         !session::run().ended() && !session::options().checks.any() && !Executor::inside_host_function();
}

}  // namespace

Moment host_moment() {
  // Virtual time begins with the first call.
  if (!session::Session::exists() || !session::run().used()) return std::make_shared<double>(0);
  if (!keeps_rows()) return nullptr;
  if (g_rows++ >= results::Collector::kMostTimelineEntries) {
    session::timeline_entries().host_row_left_out();
    return nullptr;
  }
  auto moment = std::make_shared<double>(0);
  Executor::instance().ledger().add([host = take_host_time(), moment] {
    host.pay();
    *moment = session::timeline().now(*host.clock);
  });
  return moment;
}

void host_row(const Moment& begin, const char* kind, std::string name) {
  if (!begin || !keeps_rows()) return;
  Executor::instance().ledger().add(
      [host = take_host_time(), begin, kind, name = std::move(name), thread = thread_number()] {
        host.pay();
        const double end = session::timeline().now(*host.clock);
        if (end > *begin) session::timeline_entries().host_row(thread, kind, name, *begin, end);
      });
}

CallScope::CallScope(const char* entry_point) : entry_point_(entry_point) {
  if (t_thread.depth++ == 0) begin_ = host_moment();
}

CallScope::~CallScope() {
  --t_thread.depth;
  if (begin_) host_row(begin_, "call", call_name(entry_point_));
}

std::string call_name(const char* entry_point) {
  std::string name = entry_point;
  name.erase(0, name.find_first_not_of('_'));
  const std::size_t version = name.rfind("_v");
  if (version != std::string::npos && name.find_first_not_of("0123456789", version + 2) == std::string::npos)
    name.erase(version);
  return name;
}

void note_launch() {
  g_launches.store(true, std::memory_order_relaxed);
  t_thread.launched = true;
  t_thread.waited = false;
}

void note_wait() {
  t_thread.waited = t_thread.launched;
}

void clock_read(const char* function) {
  CallingThread& t = t_thread;
  if (t.depth != 0 || g_no_more.load(std::memory_order_relaxed)) return;
  if (g_launches.load(std::memory_order_relaxed) && t.read && t.waited) g_around.store(function);
  t.read = true;
  t.launched = t.waited = false;
}

void no_more_clocks() {
  g_no_more = true;
}

const char* clock_around_launches() {
  return g_around.load();
}

}  // namespace warpgrind::semantics
