// Events of two processes: what is recorded, and has come to its end, is kept in a page that both have. A wait is for
// the record that was the latest of any process when it was asked for, as within one process. Each process has a
// virtual timeline of its own: a wait for another one's record takes no time on it.
#pragma once

#include <cstdint>
#include <memory>

#include "host/executor.h"
#include "host/objects.h"

namespace warpgrind::host {

class SharedEvent {
 public:
  struct Page;
  // Null: the host has no memory for it.
  static std::shared_ptr<SharedEvent> create();
  SharedEvent(Page* page, std::uint64_t offset, bool own) : page_(page), offset_(offset), own_(own) {}
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  std::uint64_t begin_record();           // its number; 1, 2, 3 ... in the order of issue
  void end_record(std::uint64_t number);  // the work before it has ended
  std::uint64_t latest() const;           // 0: none was recorded
  // A record of a process that has died counts as ended.
  bool has_ended(std::uint64_t number) const;
  // False: the program ends, or `stop` says so.
  template <class Stop>
  bool wait(std::uint64_t number, Stop&& stop) const;
  std::uint64_t offset() const { return offset_; }
  std::uint64_t generation() const;

 private:
  static void pause(unsigned step);
  Page* page_;
  std::uint64_t offset_;  // in the file of the process that made it
  bool own_;
};

template <class Stop>
bool SharedEvent::wait(std::uint64_t number, Stop&& stop) const {
  for (unsigned step = 0; !has_ended(number); step++) {
    if (stop()) return false;
    pause(step);
  }
  return true;
}

// The latest record, if it is another process's: that this process waits for it, or asks, is not a matter of its own
// work. 0: it is the event's own mark.
std::uint64_t foreign_record(Event& event);

// Work that records: its number goes into the mark. Work that waits for another process's record.
void tell_other_processes(Event& event, EventMark& mark, Work& work);
void wait_for_other_process(std::shared_ptr<SharedEvent> event, std::uint64_t record, Work& work);

// ---- As the APIs' functions of these names. The event must be made with cudaEventInterprocess.
cudaError_t ipc_get_event_handle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t ipc_open_event_handle(cudaEvent_t* out, const cudaIpcEventHandle_t& handle);

}  // namespace warpgrind::host
