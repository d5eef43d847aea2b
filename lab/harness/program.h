// A program of the lab: runs rungs, verifies them, times them, and leaves rows. What is not CUDA itself happens here,
// so that a topic's file holds kernels and a few lines that say what to run.
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
// On the virtual GPU each row is one execution, since every execution gives the same. On a real GPU: one execution that
// is verified, warm-up, then repetitions until the median is known to 1 %.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "harness/clock.h"
#include "harness/topic.h"
#include "harness/verify.h"

namespace lab {

// What the problem itself needs, whatever the kernel does: each input read once, each output written once.
struct Work {
  double bytes = 0, flop = 0;
};

struct Case {
  std::string rung;
  Size size;
  std::string type;
  Work work;
  std::vector<std::pair<std::string, double>> parameters = {};  // of a sweep: {"offset", 3}
  bool cold = true;                                             // caches flushed between repetitions on a real GPU
};

// A call of something that lives longer: the measuring code below is compiled once a program, not once a rung.
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
  Program(int argc, char** argv, const Topic& topic) : topic_(topic), line_(argc, argv, topic), name_(argv[0]) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count < 1)
      line_.fail(std::string("no CUDA device: ") + cudaGetErrorString(error) + "; `warpgrind run` gives a virtual one");
    if (timed()) mhz_before_ = measured_sm_mhz();
    std::printf("%s: %s\n", topic.name, topic.title);
  }

  const CommandLine& line() const { return line_; }
  const std::vector<Size>& sizes() const { return line_.sizes(); }
  std::vector<std::string> types() const { return line_.types(); }
  bool full() const { return line_.full(); }
  bool chosen(const std::string& rung) const { return line_.chosen(rung); }

  // Whether the problem can be held; says so and leaves a row where not.
  bool fits(const Size& size, double device_bytes, double host_bytes) {
    size_t free_bytes = 0, total = 0;
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total));
    char text[160] = "";
    // Data of the virtual GPU lives in the host's memory.
    const double host = host_bytes + (on_virtual_gpu() ? device_bytes : 0);
    if (device_bytes > 0.95 * static_cast<double>(free_bytes))
      std::snprintf(text, sizeof text, "needs %.3g GB of device memory, %.3g GB are free", device_bytes / 1e9,
                    free_bytes / 1e9);
    else if (!runs_in_part() && host > 0.8 * host_memory_bytes())
      std::snprintf(text, sizeof text, "needs %.3g GB of host memory, this machine has %.3g GB", host / 1e9,
                    host_memory_bytes() / 1e9);
    if (!*text) return true;
    skip({"", size, "", {}}, text);
    return false;
  }

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

  // One row on the CPU of this computer: a real measurement, wherever the GPU is.
  template <class Work, class Verify>
  void run_on_host(const Case& c, Work work, Verify verify) {
    measure_on_host(c, Callback<void>(work), Callback<Verdict>(verify));
  }

  // A row that another way of measuring filled (a copy timed by the program itself). Times in microseconds; the range
  // is the one that Range(range_of(c)) opened, if any.
  void row(const Case& c, const Timing& gpu, const Timing& cpu, const Verdict& verdict) {
    if (!chosen(c.rung)) return;
    Row row = begin(c);
    row.gpu = gpu;
    row.cpu = cpu;
    row.verdict = verdict;
    row.origin = on_virtual_gpu() ? "estimated" : "measured";
    add(row);
  }
  std::string range_of(const Case& c) const {
    std::string out = std::string(topic_.name) + ":" + c.rung + ":" + c.size.text() + ":" + c.type;
    for (const auto& [name, value] : c.parameters) out += ":" + name + "=" + json_number(value);
    return out;
  }

  // Why a row is not there: said, never silent.
  void skip(const Case& c, const std::string& reason) {
    if (!c.rung.empty() && !chosen(c.rung)) return;
    Row row = begin(c);
    row.skipped = reason;
    add(row);
  }

  // Text that belongs to the results: a drawing, an explanation.
  void note(const std::string& title, const std::string& text) {
    std::printf("\n-- %s\n%s%s", title.c_str(), text.c_str(), text.empty() || text.back() != '\n' ? "\n" : "");
    notes_.push_back(JsonObject().text("title", title).text("text", text).str());
  }

  // Writes the results; the exit code of the program.
  int finish() {
    if (!line_.json().empty() && !write(line_.json())) return kExitArguments;
    size_t shown = 0, wrong = 0, in_part = 0;
    for (const Row& row : rows_) {
      shown += row.skipped.empty();
      in_part += row.in_part();
      wrong += row.skipped.empty() && !row.in_part() && !row.verdict.pass();
    }
    if (shown == 0) {
      std::fprintf(stderr, "%s: nothing could be run\n", name_.c_str());
      return kExitArguments;
    }
    if (in_part)
      std::printf("not verified: %zu rows, about %llu blocks of each of their launches ran\n", in_part,
                  blocks_of_a_launch());
    if (in_part < shown)
      std::printf("%s: %zu of %zu rows verified\n", wrong ? "FAIL" : "PASS", shown - wrong - in_part, shown - in_part);
    return wrong ? kExitWrong : 0;
  }

 private:
  bool timed() const { return !on_virtual_gpu() && !line_.once(); }

  struct Row {
    Case c;
    Role role = Role::rung;
    std::string what, range, origin, skipped;
    Timing gpu, cpu;
    Verdict verdict;
    bool on_host = false;
    unsigned long long blocks = blocks_of_a_launch();  // that ran of each launch, about; 0: all
    bool in_part() const { return blocks != 0 && skipped.empty(); }
  };

  Row begin(const Case& c) const {
    Row row;
    row.c = c;
    row.range = range_of(c);
    for (const Rung& rung : topic_.rungs) {
      if (c.rung != rung.name) continue;
      row.role = rung.role;
      row.what = rung.what;
      return row;
    }
    if (!c.rung.empty()) line_.fail("'" + c.rung + "' is not in the topic's list of rungs");
    return row;
  }

  void measure(const Case& c, Callback<void> prepare, Callback<void> launch, Callback<Verdict> verify) {
    if (!chosen(c.rung)) return;
    Row row = begin(c);
    prepare();
    CHECK_CUDA(cudaDeviceSynchronize());
    {
      const Range range(row.range);
      once(row, c.cold, launch);
    }
    if (!row.blocks) row.verdict = verify();
    row.origin = on_virtual_gpu() ? "estimated" : "measured";
    if (row.verdict.pass() && timed()) repeat(row, c.cold, prepare, launch);
    add(row);
  }

  void measure_on_host(const Case& c, Callback<void> work, Callback<Verdict> verify) {
    if (!chosen(c.rung)) return;
    Row row = begin(c);
    row.blocks = 0;
    std::vector<double> samples;
    const StoppingRule rule{1, 15, full() ? 1.0 : 0.1};
    const double begin_us = wall_us();
    do {
      const double t = wall_us();
      work();
      samples.push_back(wall_us() - t);
    } while (!rule.enough(samples, wall_us() - begin_us));
    row.cpu = Timing::of(samples);
    row.verdict = verify();
    row.origin = "measured";
    row.on_host = true;
    add(row);
  }

  // The first execution, the one that is verified and counted, timed as repetitions on a real GPU are. Cold: the
  // launches queue up behind something else, so the host's own share does not show between the events; the host's time
  // is what it would be without that: it issues, then waits. Else from an idle GPU to an idle GPU, without the events'
  // own part.
  void once(Row& row, bool cold, Callback<void> launch) {
    Event before, start, stop;
    QueueFill fill;
    CHECK_CUDA(cudaDeviceSynchronize());
    const double begin_us = host_us();
    before.record();
    const double record_us = host_us() - begin_us;
    if (cold) fill.enqueue();
    start.record();
    const double issue_us = host_us(), loaded_us = loading_us();
    launch();
    const double issued_us = host_us() - (cold ? loading_us() - loaded_us : 0);
    CHECK_CUDA(cudaGetLastError());
    const bool done = !cold && cudaStreamQuery(nullptr) == cudaSuccess;  // the calls have waited themselves
    cudaGetLastError();                                                  // where "not ready" counts as an error
    stop.record();
    CHECK_CUDA(cudaDeviceSynchronize());
    const double end_us = host_us();
    row.gpu = Timing::of({stop.us_since(start)});
    const double fill_us = start.us_since(before);  // not cold: two events with nothing between them
    const double issue = cold && issued_us - issue_us < fill_us ? issued_us - issue_us : 0;
    row.cpu = Timing::of({done   ? issued_us - issue_us
                          : cold ? end_us - begin_us - fill_us + issue
                                 : end_us - issue_us - 2 * record_us - fill_us});
  }

  // GPU time: launches queue up behind the flush, so that the host's share does not show between the events. Host time:
  // from an idle GPU to an idle GPU, in repetitions of their own.
  void repeat(Row& row, bool cold, Callback<void> prepare, Callback<void> launch) {
    const StoppingRule rule{7, 200, full() ? 0.6 : 0.2};
    CacheFlush flush;
    Event start, stop;
    for (int i = 0; i < 2; ++i) {
      prepare();
      launch();
    }
    CHECK_KERNEL();
    std::vector<double> gpu, cpu;
    double begin_us = wall_us();
    do {
      prepare();
      if (cold) flush.enqueue();
      start.record();
      launch();
      stop.record();
      gpu.push_back(stop.us_since(start));
    } while (!rule.enough(gpu, wall_us() - begin_us));
    const StoppingRule host_rule{5, 30, 0.1};
    begin_us = wall_us();
    do {
      prepare();
      if (cold) flush.enqueue();
      CHECK_CUDA(cudaDeviceSynchronize());
      const double t = wall_us();
      launch();
      CHECK_CUDA(cudaDeviceSynchronize());
      cpu.push_back(wall_us() - t);
    } while (!host_rule.enough(cpu, wall_us() - begin_us));
    row.gpu = Timing::of(gpu);
    row.cpu = Timing::of(cpu);
  }

  void add(const Row& row) {
    print(row);
    rows_.push_back(row);
  }

  void print(const Row& row) const {
    std::string label = row.c.rung;
    for (const auto& [name, value] : row.c.parameters) label += " " + name + " " + json_number(value);
    std::printf("%-32s %10s %-6s ", label.c_str(), row.c.size.text().c_str(), row.c.type.c_str());
    if (!row.skipped.empty()) {
      std::printf("skipped: %s\n", row.skipped.c_str());
      return;
    }
    const double us = row.on_host ? row.cpu.median : row.gpu.median;
    if (row.in_part())
      std::printf("not verified  %11.2f us %s\n", us, row.origin.c_str());
    else if (!row.verdict.pass())
      std::printf("FAIL  max error %.3g (tolerance %.3g), %zu of %zu elements wrong\n", row.verdict.max_error,
                  row.verdict.tolerance, row.verdict.wrong, row.verdict.count);
    else {
      std::printf("PASS  error %.2g of %.2g", row.verdict.max_error, row.verdict.tolerance);
      if (!line_.once()) std::printf("  %11.2f us %s", us, row.origin.c_str());
      if (us > 0 && row.c.work.bytes > 0) std::printf("  %8.1f GB/s", row.c.work.bytes / us / 1e3);
      if (us > 0 && row.c.work.flop > 0) std::printf("  %8.1f GFLOP/s", row.c.work.flop / us / 1e3);
      std::printf("\n");
    }
  }

  static std::string timing_json(const Timing& t) {
    return JsonObject()
        .number("median", t.median)
        .number("low", t.low)
        .number("high", t.high)
        .number("count", t.count)
        .str();
  }

  std::string row_json(const Row& row) const {
    JsonObject o, parameters;
    std::vector<std::string> size;
    for (const long n : row.c.size.n) size.push_back(std::to_string(n));
    for (const auto& [name, value] : row.c.parameters) parameters.number(name, value);
    o.text("rung", row.c.rung).text("what", row.what).text("role", row.on_host ? "host" : name(row.role));
    o.raw("size", json_list(size)).text("size_text", row.c.size.text()).text("type", row.c.type);
    o.raw("parameters", parameters.str()).text("range", row.range);
    if (!row.skipped.empty()) return o.text("skipped", row.skipped).str();
    o.flag("verified", !row.in_part() && row.verdict.pass());
    if (row.in_part()) {
      o.number("blocks", static_cast<double>(row.blocks));
    } else {
      o.number("max_error", row.verdict.max_error).number("tolerance", row.verdict.tolerance);
      o.number("wrong", static_cast<double>(row.verdict.wrong));
      o.number("elements", static_cast<double>(row.verdict.count));
      if (!row.verdict.pass()) return o.str();
    }
    o.number("bytes", row.c.work.bytes).number("flop", row.c.work.flop).text("origin", row.origin);
    if (row.gpu.count && !line_.once()) o.raw("gpu_us", timing_json(row.gpu));
    if (row.cpu.count && !line_.once()) o.raw("cpu_us", timing_json(row.cpu));
    return o.str();
  }

  std::string device_json() const {
    int device = 0, runtime = 0, driver = 0;
    cudaDeviceProp properties;
    CHECK_CUDA(cudaGetDevice(&device));
    CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
    CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
    CHECK_CUDA(cudaDriverGetVersion(&driver));
    const auto attribute = [device](cudaDeviceAttr which) {
      int value = 0;
      CHECK_CUDA(cudaDeviceGetAttribute(&value, which, device));
      return static_cast<double>(value);
    };
    size_t free_bytes = 0, memory = 0;
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &memory));
    JsonObject o;
    o.text("name", properties.name).number("cc_major", attribute(cudaDevAttrComputeCapabilityMajor));
    o.number("cc_minor", attribute(cudaDevAttrComputeCapabilityMinor));
    o.number("sm_count", attribute(cudaDevAttrMultiProcessorCount));
    o.number("sm_clock_mhz", attribute(cudaDevAttrClockRate) / 1e3);
    o.number("memory_clock_mhz", attribute(cudaDevAttrMemoryClockRate) / 1e3);
    o.number("memory_bus_bits", attribute(cudaDevAttrGlobalMemoryBusWidth));
    o.number("l2_bytes", attribute(cudaDevAttrL2CacheSize)).number("memory_bytes", static_cast<double>(memory));
    o.number("runtime_version", runtime).number("driver_version", driver);
    return o.str();
  }

  bool write(const std::string& path) const {
    std::vector<std::string> rows;
    for (const Row& row : rows_) rows.push_back(row_json(row));
    JsonObject o;
    o.text("format", "warpgrind-lab-rows 1").text("topic", topic_.name).text("title", topic_.title);
    o.text("document", topic_.document).text("shows", topic_.shows).flag("virtual", on_virtual_gpu());
    o.flag("full", full()).raw("device", device_json());
    if (timed()) o.number("sm_mhz_before", mhz_before_).number("sm_mhz_after", measured_sm_mhz());
    o.raw("rows", json_list(rows, ",\n  ")).raw("notes", json_list(notes_, ",\n  "));
    std::FILE* file = std::fopen(path.c_str(), "w");
    const std::string text = o.str() + "\n";
    const bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (!(file && std::fclose(file) == 0 && good)) {
      std::fprintf(stderr, "%s: cannot write %s: %s\n", name_.c_str(), path.c_str(), std::strerror(errno));
      return false;
    }
    return true;
  }

  Topic topic_;
  CommandLine line_;
  std::string name_;
  std::vector<Row> rows_;
  std::vector<std::string> notes_;
  double mhz_before_ = 0;
};

}  // namespace lab
