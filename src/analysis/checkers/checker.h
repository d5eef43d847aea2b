// A checker watches a run and says what is wrong with the program. Each is one file of this folder (NAME.cpp) and its
// row in checkers.inc. The same findings, whatever the number of workers: of what is seen several times the first is
// told (first_seen.h), and counts are sums.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkers/handles.h"
#include "checkers/objects.h"
#include "checkers/selection.h"
#include "checkers/works.h"
#include "events/observer.h"
#include "gpu/gpu_model.h"
#include "results/finding.h"

namespace warpgrind::checkers {

// Of a stretch of memory what nobody has written: how many bytes, and how far from its beginning the first is.
struct Unwritten {
  std::uint64_t bytes = 0, first = 0;
};
using AskUnwritten = std::function<Unwritten(std::uint64_t address, std::uint64_t bytes)>;

// What checkers ask: which memory an address belongs to and where it was made, which call of the host a piece of work
// came from. They live as long as the checkers, and see each event before them.
struct Known {
  const Objects& objects;
  const Works& works;
  const GpuModel& model;
  const Handles* handles = nullptr;
  // A kernel or copy has failed, so do the calls after it; and the program has launched more, knowing that.
  const std::atomic<bool>*faulted = nullptr, *gone_on = nullptr;
  AskUnwritten unwritten = nullptr;  // of memory that is there; null: nobody wants to know
};

// One for all devices of the session, registered with each before its first launch: an event says which device it is of
// (Launch::device), and Observer's worker numbers are those of one device.
class Checker : public events::Observer {
 public:
  // After the last launch, once: what was found, in any order.
  virtual void report(std::vector<results::Finding>& findings) = 0;
};

// All checkers of a run, and what they know.
class Checkers {
 public:
  // unwritten: memory that nobody writes is to be told; or null.
  Checkers(const Selection& selection, const GpuModel& model, AskUnwritten unwritten = nullptr);
  // To be registered with each device, in this order.
  std::vector<events::Observer*> observers();
  // Sorted: by severity, then by place.
  std::vector<results::Finding> report();
  const Objects& objects() const { return objects_; }
  Handles& handles() { return handles_; }
  void note_fault() { faulted_ = true; }
  void note_gone_on() { gone_on_ = true; }
  bool gone_on() const { return gone_on_; }

 private:
  Objects objects_;
  Works works_;
  Handles handles_;
  std::atomic<bool> faulted_{false}, gone_on_{false};
  Known known_;
  std::vector<std::pair<std::string, std::unique_ptr<Checker>>> checkers_;  // with their groups
};

}  // namespace warpgrind::checkers
