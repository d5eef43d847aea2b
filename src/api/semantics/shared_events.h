// Events that several processes share. A page that all of them map holds the records and their ends. As within one
// process, a wait is for the latest record, of any process, at the time of the call. Each process has its own virtual
// timeline: a wait for a record of another process takes no time on it.
#pragma once

#include <cstdint>
#include <memory>

#include "semantics/executor.h"
#include "semantics/objects.h"

namespace warpgrind::semantics {

class SharedEvent {
 public:
  struct Page;
  // Null: the host has no memory for it.
  static std::shared_ptr<SharedEvent> create();
  SharedEvent(Page* page, std::uint64_t offset, bool own) : page_(page), offset_(offset), own_(own) {}
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  std::uint64_t begin_record();           // returns its number: 1, 2, 3 ... in the order of issue
  void end_record(std::uint64_t number);  // the work before the record has ended
  std::uint64_t latest() const;           // number of the latest record; 0: none
  // A record of a process that has died counts as ended.
  bool has_ended(std::uint64_t number) const;
  // Returns false if `stop` returned true before the record ended.
  template <class Stop>
  bool wait(std::uint64_t number, Stop&& stop) const;
  std::uint64_t offset() const { return offset_; }
  std::uint64_t generation() const;

 private:
  static void pause(unsigned step);
  Page* page_;
  std::uint64_t offset_;  // in the file of the process that created it
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

// Number of the latest record, if another process made it: waits and queries then do not concern work of this process.
// 0: the latest record is the event's own mark.
std::uint64_t foreign_record(Event& event);

// record_for_other_processes(): `work` records the event; the record's number goes into the mark.
// wait_for_other_process(): `work` waits for a record of another process.
void record_for_other_processes(Event& event, EventMark& mark, Work& work);
void wait_for_other_process(std::shared_ptr<SharedEvent> event, std::uint64_t record, Work& work);

// ---- The APIs' functions of the same names. The event must be created with cudaEventInterprocess.
cudaError_t ipc_get_event_handle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t ipc_open_event_handle(cudaEvent_t* out, const cudaIpcEventHandle_t& handle);

}  // namespace warpgrind::semantics
