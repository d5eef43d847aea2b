// A program of the lab: it runs rungs, verifies and times them, and writes rows of results. It does everything that is
// not CUDA itself, so that a topic's file holds kernels and a few lines that say what to run.
//
//   lab::Program program(argc, argv, kTopic);
//   for (const lab::Size& size : program.sizes()) {
//     if (!program.fits(size, device_bytes, host_bytes)) continue;
//     ...
//     program.run({"padded", size, "float", {bytes, flop}}, [&] { out.poison(); }, [&] { kernel<<<...>>>(...); },
//                 [&] { return lab::compare(out.host(), expected); });
//   }
//   return program.finish();
//
// On the virtual GPU each row is one execution, since every execution gives the same counts and time. On a real GPU a
// row is one verified execution, warm-up, then repetitions until the median is known to 1 %.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "harness/clock.h"
#include "harness/topic.h"
#include "harness/verify.h"

namespace lab {

// The work of the problem itself, for any kernel: each input read once, each output written once.
struct Work {
  double bytes = 0, flop = 0;
};

struct Case {
  std::string rung;
  Size size;
  std::string type;
  Work work;
  std::vector<std::pair<std::string, double>> parameters = {};  // of a sweep: {"offset", 3}
  bool cold = true;                                             // caches are flushed between repetitions on a real GPU
};

// Reference to a callable that outlives it: so the measuring code below is compiled once a program, not once a rung.
template <class Result>
class Callback {
 public:
  template <class Function>
  explicit Callback(Function& function)
      : function_(&function), call_([](void* f) -> Result { return (*static_cast<Function*>(f))(); }) {}
  Result operator()() const { return call_(function_); }

 private:
  void* function_;
  Result (*call_)(void*);
};

class Program {
 public:
  Program(int argc, char** argv, const Topic& topic);

  const CommandLine& line() const { return line_; }
  const std::vector<Size>& sizes() const { return line_.sizes(); }
  std::vector<std::string> types() const { return line_.types(); }
  bool full() const { return line_.full(); }
  bool chosen(const std::string& rung) const { return line_.chosen(rung); }

  // Returns whether the problem fits in memory. If not, prints that and adds a row that says so.
  bool fits(const Size& size, double device_bytes, double host_bytes);

  // One row on the GPU. prepare() poisons the output and resets what the launch changes; it is not timed. launch() may
  // be several kernels and copies, in the default stream or blocking streams. verify() returns a Verdict.
  template <class Prepare, class Launch, class Verify>
  void run(const Case& c, Prepare prepare, Launch launch, Verify verify) {
    measure(c, Callback<void>(prepare), Callback<void>(launch), Callback<Verdict>(verify));
  }
  template <class Launch, class Verify>
  void run(const Case& c, Launch launch, Verify verify) {
    run(
        c, [] {}, launch, verify);
  }

  // One row on this computer's CPU: always a real measurement.
  template <class Work, class Verify>
  void run_on_host(const Case& c, Work work, Verify verify) {
    measure_on_host(c, Callback<void>(work), Callback<Verdict>(verify));
  }

  // A row with times measured by the program itself (such as a copy), in microseconds. The range is the one that
  // Range(range_of(c)) opened, if any.
  void row(const Case& c, const Timing& gpu, const Timing& cpu, const Verdict& verdict);
  std::string range_of(const Case& c) const;

  // Records why a row is missing, so that none is missing silently.
  void skip(const Case& c, const std::string& reason);

  // Text that belongs to the results, such as a drawing or an explanation.
  void note(const std::string& title, const std::string& text);

  // Writes the results and returns the program's exit code.
  int finish();

 private:
  bool timed() const { return !on_virtual_gpu() && !line_.once(); }

  struct Row {
    Case c;
    Role role = Role::rung;
    std::string what, range, origin, skipped;
    Timing gpu, cpu;
    Verdict verdict;
    bool on_host = false;
    unsigned long long blocks = blocks_of_a_launch();  // about how many blocks of each launch ran; 0: all
    bool in_part() const { return blocks != 0 && skipped.empty(); }
  };

  Row begin(const Case& c) const;

  void measure(const Case& c, Callback<void> prepare, Callback<void> launch, Callback<Verdict> verify);

  void measure_on_host(const Case& c, Callback<void> work, Callback<Verdict> verify);

  // Times the first execution, which is also verified and counted, like a repetition on a real GPU. Cold: the launches
  // queue up behind other work, so the host's own share does not show between the events. The host's time excludes that
  // other work: it is the time to issue, then to wait. Not cold: from an idle GPU to an idle GPU, without the events'
  // own part.
  void once(Row& row, bool cold, Callback<void> launch);

  // GPU time: launches queue up behind the flush, so that the host's share does not show between the events. Host time:
  // from an idle GPU to an idle GPU, in separate repetitions.
  void repeat(Row& row, bool cold, Callback<void> prepare, Callback<void> launch);

  void add(const Row& row);

  void print(const Row& row) const;

  static std::string timing_json(const Timing& t);

  std::string row_json(const Row& row) const;

  std::string device_json() const;

  bool write(const std::string& path) const;

  Topic topic_;
  CommandLine line_;
  std::string name_;
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
  double mhz_before_ = 0;
};

}  // namespace lab
