// Pages of shared events: creation, records, and waits across processes.
#include "semantics/shared_events.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "base/assert.h"
#include "base/host_pages.h"
#include "device/memory/physical_memory.h"
#include "semantics/events.h"
#include "semantics/polling.h"
#include "semantics/shared_memory.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

// Records end in any order. Each of the last kRecords records has a slot. A wait for an older record waits for the one
// that took over its slot.
struct SharedEvent::Page {
  static constexpr std::size_t kRecords = 64;
  struct Record {
    std::atomic<std::uint64_t> ended{0};  // highest number in this slot that has ended
    std::atomic<std::int32_t> process{0};
  };
  std::atomic<std::uint64_t> generation{0}, issued{0};
  std::atomic<std::uint32_t> users{0};  // processes that have it open
  Record records[kRecords];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);

namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kPages = std::uint64_t{1}
                                 << 20;  // places in the sparse file; a page exists once it is accessed
constexpr std::uint64_t kEventHandle = 0x5456452e47495057;  // "WPIG.EVT"

struct EventHandle {
  FileOfProcess of;
  std::uint64_t offset = 0, generation = 0;
};
static_assert(sizeof(EventHandle) <= sizeof(cudaIpcEventHandle_t));
static_assert(sizeof(SharedEvent::Page) <= kPageBytes);

struct Pages {
  std::mutex mutex;
  int file = -1;
  std::uint64_t used = 0, generation = 0;
  std::vector<std::uint64_t> left;  // pages of destroyed events; other processes may still have them open
};
Pages& pages() {
  static auto* all = new Pages;
  return *all;
}

SharedEvent::Page* map_page(int file, std::uint64_t offset) {
  void* const at = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : static_cast<SharedEvent::Page*>(at);
}

bool has_died(std::int32_t process) {
  return process && ::kill(process, 0) != 0 && errno == ESRCH;
}

// A page that no process has open, or a new one.
SharedEvent::Page* take_page(Pages& all, std::uint64_t& offset) {
  for (std::uint64_t& old : all.left) {
    SharedEvent::Page* const page = map_page(all.file, old);
    if (page && page->users == 0) {
      offset = old;
      std::swap(old, all.left.back());
      all.left.pop_back();
      return page;
    }
    if (page) ::munmap(page, kPageBytes);
  }
  if (all.used == kPages) return nullptr;
  offset = all.used++ * kPageBytes;
  return map_page(all.file, offset);
}

}  // namespace

std::shared_ptr<SharedEvent> SharedEvent::create() {
  Pages& all = pages();
  const std::lock_guard lock(all.mutex);
  if (all.file < 0) {
    const Result<int> made = device::make_shareable_file("events", kPages * kPageBytes);
    if (!made) return nullptr;
    all.file = *made;
  }
  std::uint64_t offset = 0;
  Page* const place = take_page(all, offset);
  if (!place) return nullptr;
  auto* const page = new (place) Page;
  page->generation = ++all.generation;
  page->users = 1;
  return std::make_shared<SharedEvent>(page, offset, true);
}

SharedEvent::~SharedEvent() {
  if (own_) {
    const std::lock_guard lock(pages().mutex);
    pages().left.push_back(offset_);
  }
  page_->users--;
  ::munmap(page_, kPageBytes);
}

std::uint64_t SharedEvent::begin_record() {
  const std::uint64_t number = ++page_->issued;
  page_->records[number % Page::kRecords].process = ::getpid();
  return number;
}

void SharedEvent::end_record(std::uint64_t number) {
  std::atomic<std::uint64_t>& ended = page_->records[number % Page::kRecords].ended;
  std::uint64_t before = ended;
  while (before < number && !ended.compare_exchange_weak(before, number)) {
  }
}

std::uint64_t SharedEvent::latest() const {
  return page_->issued;
}

std::uint64_t SharedEvent::generation() const {
  return page_->generation;
}

bool SharedEvent::has_ended(std::uint64_t number) const {
  const Page::Record& record = page_->records[number % Page::kRecords];
  return record.ended >= number || has_died(record.process);
}

void SharedEvent::pause(unsigned step) {
  constexpr unsigned kDoublings = 6;
  std::this_thread::sleep_for(std::min(kFirstPause * (1u << std::min(step, kDoublings)), kLongestPause));
}

std::uint64_t foreign_record(Event& event) {
  const std::lock_guard lock(event.mutex);
  if (!event.shared) return 0;
  const std::uint64_t latest = event.shared->latest();
  return event.mark && event.mark->record == latest ? 0 : latest;
}

void record_for_other_processes(Event& event, EventMark& mark, Work& work) {
  const std::lock_guard lock(event.mutex);
  if (!event.shared) return;
  WG_ASSERT(!work.run && mark.record == 0);  // the end of the work ends one record
  mark.record = event.shared->begin_record();
  work.run = [shared = event.shared, record = mark.record] { shared->end_record(record); };
}

void wait_for_other_process(std::shared_ptr<SharedEvent> event, std::uint64_t record, Work& work) {
  work.kind = Work::Kind::wait;
  work.what = events::StreamWork::Kind::event_wait;
  work.run = [event = std::move(event), record, device = work.device] {
    HostPages::instance().resume();  // observe host accesses during the wait
    event->wait(record, [&] { return Executor::instance().ends() || context(device).runs_nothing(); });
    HostPages::instance().pause();
  };
}

cudaError_t ipc_get_event_handle(cudaIpcEventHandle_t* handle, cudaEvent_t event_handle) {
  const EventRef event = find_event(event_handle);
  if (!event) return cudaErrorInvalidResourceHandle;
  if (!handle || !(event->flags & cudaEventInterprocess) || !event->shared)
    return refuse(cudaErrorInvalidValue, "the event was not created with cudaEventInterprocess");
  EventHandle made;
  {
    const std::lock_guard lock(pages().mutex);
    made = {describe_file(kEventHandle, pages().file), event->shared->offset(), event->shared->generation()};
  }
  *handle = {};
  std::memcpy(handle, &made, sizeof made);
  return cudaSuccess;
}

cudaError_t ipc_open_event_handle(cudaEvent_t* out, const cudaIpcEventHandle_t& handle) {
  if (!out) return cudaErrorInvalidValue;
  EventHandle read;
  std::memcpy(static_cast<void*>(&read), &handle, sizeof read);
  if (read.of.kind != kEventHandle) return refuse(cudaErrorInvalidValue, "not the handle of an event");
  const int file = open_file(read.of);
  if (file < 0)
    return refuse(cudaErrorMapBufferObjectFailed, "the exporting process has ended, or belongs to another user");
  SharedEvent::Page* const page = read.offset < kPages * kPageBytes ? map_page(file, read.offset) : nullptr;
  ::close(file);
  if (!page || page->generation != read.generation) {
    if (page) ::munmap(page, kPageBytes);
    return refuse(cudaErrorInvalidResourceHandle, "the event was destroyed");
  }
  page->users++;
  return adopt_event(out, cudaEventInterprocess | cudaEventDisableTiming,
                     std::make_shared<SharedEvent>(page, read.offset, false));
}

}  // namespace warpgrind::semantics
