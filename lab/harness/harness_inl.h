// Implementation of the harness. harness.h includes it, so that one command compiles a topic:
//
//   nvcc -std=c++20 -I lab lab/vecadd/vecadd.cu
//
// The lab's own build compiles it once (harness.cu) and its programs with LAB_COMPILED_HARNESS: this saves a third of a
// small topic's compile time.
#pragma once

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "harness/clock.h"
#include "harness/json.h"
#include "harness/program.h"
#include "harness/topic.h"

#ifndef LAB_INLINE
#define LAB_INLINE inline
#endif

namespace lab {

// ---- json.h
LAB_INLINE std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

LAB_INLINE std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

LAB_INLINE JsonObject& JsonObject::raw(const std::string& name, const std::string& json) {
  text_ += (text_.empty() ? "" : ", ") + json_string(name) + ": " + json;
  return *this;
}

LAB_INLINE std::string json_list(const std::vector<std::string>& items, const char* separator) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += (i ? separator : "") + items[i];
  return out + "]";
}

// ---- topic.h
LAB_INLINE CommandLine::CommandLine(int argc, char** argv, const Topic& topic) : topic_(topic), program_(argv[0]) {
  for (const Option& option : topic.options) options_[option.name] = option.fallback;
  for (int i = 1; i < argc; ++i) take(argc, argv, i);
  if (types_.empty()) types_ = split(topic.types, ',').front();
  for (const std::string& type : split(types_, ',')) require_type(type);
  const std::string text = !sizes_.empty() ? sizes_
                           : large_        ? topic.large_sizes
                           : full_         ? topic.full_sizes
                                           : topic.quick_sizes;
  if (large_ && !*topic.large_sizes) fail(std::string(topic.name) + " has no size for --large");
  for (const std::string& part : split(text, ',')) add_sizes(part);
  for (const std::string& pattern : patterns_) require_rung(pattern);
}

LAB_INLINE long CommandLine::option_number(const std::string& name, long lowest, long highest) const {
  return number(option(name), "--" + name, lowest, highest);
}

LAB_INLINE bool CommandLine::chosen(const std::string& rung) const {
  for (const Rung& known : topic_.rungs) {
    if (rung != known.name) continue;
    // --large: the ladder and its bound. Results of some blocks need no rung of the host, which has no blocks.
    if (large_ && known.role != Role::rung && known.role != Role::bound) return false;
    if (runs_in_part() && (known.role == Role::host || known.role == Role::library)) return false;
  }
  if (patterns_.empty()) return true;
  for (const std::string& pattern : patterns_)
    if (matches(pattern, rung)) return true;
  return false;
}

LAB_INLINE void CommandLine::fail(const std::string& message) const {
  std::fprintf(stderr, "%s: %s\n", program_, message.c_str());
  std::exit(kExitArguments);
}

LAB_INLINE std::vector<std::string> CommandLine::split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) out.push_back(part);
  return out;
}

LAB_INLINE void CommandLine::take(int argc, char** argv, int& i) {
  const std::string name = argv[i];
  if (name == "--describe") describe();
  if (name == "--help" || name == "-h") help();
  if (name == "--full") {
    full_ = true;
  } else if (name == "--large") {
    large_ = true;
  } else if (name == "--once") {
    once_ = true;
  } else if (name.rfind("--", 0) != 0) {
    if (!sizes_.empty()) fail("a second size '" + name + "': give a list as 16,32,48 or a range as 16:4096:x2");
    sizes_ = name;
  } else {
    std::string* value = name == "--sizes" ? &sizes_ : name == "--type" ? &types_ : name == "--json" ? &json_ : nullptr;
    if (!value && options_.count(name.substr(2))) value = &options_[name.substr(2)];
    if (!value && name != "--rung") fail("unknown option '" + name + "'; --help lists the options");
    if (i + 1 >= argc) fail(name + " needs a value");
    ++i;
    if (value) {
      *value = argv[i];
      if (value->empty()) fail(name + " needs a value, not an empty text");
    } else {
      patterns_.push_back(argv[i]);
    }
  }
}

LAB_INLINE bool CommandLine::matches(const std::string& pattern, const std::string& text) {
  if (pattern.find('*') == std::string::npos) return text.find(pattern) != std::string::npos;
  return glob(pattern.c_str(), text.c_str());
}

LAB_INLINE bool CommandLine::glob(const char* p, const char* t) {
  if (*p == '*') return glob(p + 1, t) || (*t && glob(p, t + 1));
  return *p == *t && (!*p || glob(p + 1, t + 1));
}

LAB_INLINE void CommandLine::require_rung(const std::string& pattern) const {
  std::string names;
  for (const Rung& rung : topic_.rungs) {
    if (matches(pattern, rung.name)) return;
    names += std::string(names.empty() ? "" : ", ") + rung.name;
  }
  fail("no rung '" + pattern + "' in " + topic_.name + "; there are: " + names);
}

LAB_INLINE void CommandLine::require_type(const std::string& type) const {
  for (const std::string& known : split(topic_.types, ','))
    if (known == type) return;
  fail("no type '" + type + "' in " + topic_.name + "; there are: " + topic_.types);
}

LAB_INLINE long CommandLine::number(const std::string& text, const std::string& what, long lowest, long highest) const {
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < lowest || value > highest)
    fail(what + " must be a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest) +
         ", not '" + text + "'");
  return value;
}

LAB_INLINE void CommandLine::add_sizes(const std::string& text) {
  constexpr long kLargest = 1L << 40;
  const size_t names = split(topic_.size_names, 'x').size();
  const std::vector<std::string> range = split(text, ':');
  if (range.size() == 1) {
    Size size;
    for (const std::string& part : split(text, 'x')) size.n.push_back(number(part, "a size", 1, kLargest));
    if (size.n.size() == 1) size.n.resize(names, size.n.front());
    if (size.n.size() != names)
      fail("a size of " + std::string(topic_.name) + " is " + topic_.size_names + ", not '" + text + "'");
    parsed_sizes_.push_back(size);
    return;
  }
  const bool times = range.size() == 3 && range[2][0] == 'x', plus = range.size() == 3 && range[2][0] == '+';
  if (!times && !plus) fail("a range of sizes is FIRST:LAST:xFACTOR or FIRST:LAST:+STEP, not '" + text + "'");
  const long first = number(range[0], "the first size", 1, kLargest);
  const long last = number(range[1], "the last size", first, kLargest);
  const long step = number(range[2].substr(1), "the step of a range", times ? 2 : 1, kLargest);
  for (long n = first; n <= last; n = times ? n * step : n + step)
    parsed_sizes_.push_back({std::vector<long>(names, n)});
}

LAB_INLINE void CommandLine::help() const {
  std::printf("%s: %s\n%s\n\nusage: %s [%s] [OPTIONS]\n", topic_.name, topic_.title, topic_.shows, program_,
              topic_.size_names);
  std::printf("  --sizes LIST     16,32 or 16:4096:x2 or 16:64:+16%s (default %s; with --full %s)\n",
              std::strchr(topic_.size_names, 'x') ? " or 512x300" : "", topic_.quick_sizes, topic_.full_sizes);
  std::printf("  --type LIST      of %s\n  --rung PATTERN   only the rungs of this name (several times)\n",
              topic_.types);
  std::printf("  --full           the full sizes\n  --large          the ladder at its large size (%s)\n",
              topic_.large_sizes);
  std::printf("  --once           one launch a rung, no timing\n");
  std::printf("  --json FILE      the results\n");
  for (const Option& option : topic_.options)
    std::printf("  --%-14s %s (default %s)\n", option.name, option.help, option.fallback);
  std::printf("rungs:\n");
  for (const Rung& rung : topic_.rungs) std::printf("  %-28s %s\n", rung.name, rung.what);
  std::exit(0);
}

LAB_INLINE void CommandLine::describe() const {
  std::vector<std::string> rungs, options;
  for (const Rung& rung : topic_.rungs)
    rungs.push_back(
        JsonObject().text("name", rung.name).text("what", rung.what).text("role", lab::name(rung.role)).str());
  for (const Option& option : topic_.options)
    options.push_back(
        JsonObject().text("name", option.name).text("default", option.fallback).text("help", option.help).str());
  JsonObject object;
  object.text("format", "warpgrind-lab-topic 1").text("topic", topic_.name).text("title", topic_.title);
  object.text("document", topic_.document).text("shows", topic_.shows).text("size_names", topic_.size_names);
  object.text("quick_sizes", topic_.quick_sizes)
      .text("full_sizes", topic_.full_sizes)
      .text("large_sizes", topic_.large_sizes)
      .text("types", topic_.types);
  object.text("models", topic_.models).raw("rungs", json_list(rungs)).raw("options", json_list(options));
  std::printf("%s\n", object.str().c_str());
  std::exit(0);
}

// ---- clock.h
LAB_INLINE double wall_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

LAB_INLINE Timing Timing::of(std::vector<double> samples) {
  Timing t;
  t.count = static_cast<int>(samples.size());
  if (samples.empty()) return t;
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size();
  t.median = n % 2 ? samples[n / 2] : 0.5 * (samples[n / 2 - 1] + samples[n / 2]);
  t.low = samples[n / 4];
  t.high = samples[n - 1 - n / 4];
  return t;
}

LAB_INLINE bool StoppingRule::enough(const std::vector<double>& samples, double elapsed_us) const {
  const int n = static_cast<int>(samples.size());
  if (n < least) return false;
  if (n >= most || elapsed_us > seconds * 1e6) return true;
  if (n % 8 != 7) return false;
  const Timing t = Timing::of(samples);
  return 1.57 * (t.high - t.low) < 0.01 * t.median * std::sqrt(static_cast<double>(n));
}

LAB_INLINE QueueFill::QueueFill() : bytes_(on_virtual_gpu() ? kVirtualBytes : twice_l2_bytes()) {
  if (cudaMalloc(&data_, bytes_) != cudaSuccess) {
    cudaGetLastError();  // the problem fills the memory: run without a fill
    data_ = nullptr;
  } else if (on_virtual_gpu()) {
    CHECK_CUDA(cudaMallocHost(&host_, bytes_));
  }
}

LAB_INLINE QueueFill::~QueueFill() {
  cudaFree(data_);
  cudaFreeHost(host_);
}

LAB_INLINE void QueueFill::enqueue() {
  flush_virtual_l2();
  if (host_) CHECK_CUDA(cudaMemcpyAsync(data_, host_, bytes_, cudaMemcpyHostToDevice, nullptr));
  if (data_) CHECK_CUDA(cudaMemsetAsync(data_, 0, host_ ? sizeof(int) : bytes_, nullptr));
}

static __global__ void lab_read_all(const uint4* data, size_t count, unsigned* kept) {
  unsigned mixed = 0;
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 v = __ldcg(data + i);
    mixed |= v.x | v.y | v.z | v.w;
  }
  if (mixed != 0) *kept = mixed;  // never true: the data are zeros, but the compiler cannot know
}

LAB_INLINE CacheFlush::CacheFlush() : bytes_(twice_l2_bytes()) {
  if (cudaMalloc(&data_, bytes_ + sizeof(uint4)) != cudaSuccess) {  // the problem fills the memory: L2 cannot hold it
    cudaGetLastError();
    data_ = nullptr;
    return;
  }
  CHECK_CUDA(cudaMemset(data_, 0, bytes_ + sizeof(uint4)));
}

LAB_INLINE void CacheFlush::enqueue() {
  if (!data_) return;
  const size_t count = bytes_ / sizeof(uint4);
  lab_read_all<<<kBlocksPerSm * sms_, kThreads>>>(data_, count, &data_[count].x);
  CHECK_CUDA(cudaGetLastError());
}

static __global__ void lab_clock_check(unsigned long long* out) {
  unsigned long long c0, c1, t0, t1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(c0));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c1));
  } while (t1 - t0 < 500000);
  out[0] = c1 - c0;
  out[1] = t1 - t0;
}

LAB_INLINE double measured_sm_mhz() {
  DeviceArray<unsigned long long> out(2);
  for (int i = 0; i < 40; ++i) lab_clock_check<<<1, 1>>>(out.data());
  CHECK_KERNEL();
  const std::vector<unsigned long long> v = out.host();
  return v[1] ? 1e3 * static_cast<double>(v[0]) / static_cast<double>(v[1]) : 0;
}

// ---- program.h
LAB_INLINE Program::Program(int argc, char** argv, const Topic& topic)
    : topic_(topic), line_(argc, argv, topic), name_(argv[0]) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count < 1)
    line_.fail(std::string("no CUDA device: ") + cudaGetErrorString(error) + "; `warpgrind run` gives a virtual one");
  if (timed()) mhz_before_ = measured_sm_mhz();
  std::printf("%s: %s\n", topic.name, topic.title);
}

LAB_INLINE bool Program::fits(const Size& size, double device_bytes, double host_bytes) {
  size_t free_bytes = 0, total = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total));
  char text[160] = "";
  // Data of the virtual GPU is stored in the host's memory.
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

LAB_INLINE void Program::row(const Case& c, const Timing& gpu, const Timing& cpu, const Verdict& verdict) {
  if (!chosen(c.rung)) return;
  Row row = begin(c);
  row.gpu = gpu;
  row.cpu = cpu;
  row.verdict = verdict;
  row.origin = !on_virtual_gpu() ? "measured" : row.in_part() ? "sampled" : "estimated";
  add(row);
}

LAB_INLINE std::string Program::range_of(const Case& c) const {
  std::string out = std::string(topic_.name) + ":" + c.rung + ":" + c.size.text() + ":" + c.type;
  for (const auto& [name, value] : c.parameters) out += ":" + name + "=" + json_number(value);
  return out;
}

LAB_INLINE void Program::skip(const Case& c, const std::string& reason) {
  if (!c.rung.empty() && !chosen(c.rung)) return;
  Row row = begin(c);
  row.skipped = reason;
  add(row);
}

LAB_INLINE void Program::note(const std::string& title, const std::string& text) {
  std::printf("\n-- %s\n%s%s", title.c_str(), text.c_str(), text.empty() || text.back() != '\n' ? "\n" : "");
  notes_.push_back(JsonObject().text("title", title).text("text", text).str());
}

LAB_INLINE int Program::finish() {
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

LAB_INLINE Program::Row Program::begin(const Case& c) const {
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

LAB_INLINE void Program::measure(const Case& c, Callback<void> prepare, Callback<void> launch,
                                 Callback<Verdict> verify) {
  if (!chosen(c.rung)) return;
  Row row = begin(c);
  prepare();
  CHECK_CUDA(cudaDeviceSynchronize());
  {
    const Range range(row.range);
    once(row, c.cold, launch);
  }
  if (!row.blocks) row.verdict = verify();
  row.origin = !on_virtual_gpu() ? "measured" : row.in_part() ? "sampled" : "estimated";
  if (row.verdict.pass() && timed()) repeat(row, c.cold, prepare, launch);
  add(row);
}

LAB_INLINE void Program::measure_on_host(const Case& c, Callback<void> work, Callback<Verdict> verify) {
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

LAB_INLINE void Program::once(Row& row, bool cold, Callback<void> launch) {
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
  const bool done = !cold && cudaStreamQuery(nullptr) == cudaSuccess;  // the calls themselves have waited
  cudaGetLastError();                                                  // clears cudaErrorNotReady
  stop.record();
  CHECK_CUDA(cudaDeviceSynchronize());
  const double end_us = host_us();
  row.gpu = Timing::of({stop.us_since(start)});
  const double fill_us = start.us_since(before);  // if not cold: two events with nothing between them
  const double issue = cold && issued_us - issue_us < fill_us ? issued_us - issue_us : 0;
  row.cpu = Timing::of({done   ? issued_us - issue_us
                        : cold ? end_us - begin_us - fill_us + issue
                               : end_us - issue_us - 2 * record_us - fill_us});
}

LAB_INLINE void Program::repeat(Row& row, bool cold, Callback<void> prepare, Callback<void> launch) {
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

LAB_INLINE void Program::add(const Row& row) {
  print(row);
  rows_.push_back(row);
}

LAB_INLINE void Program::print(const Row& row) const {
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

LAB_INLINE std::string Program::timing_json(const Timing& t) {
  return JsonObject()
      .number("median", t.median)
      .number("low", t.low)
      .number("high", t.high)
      .number("count", t.count)
      .str();
}

LAB_INLINE std::string Program::row_json(const Row& row) const {
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

LAB_INLINE std::string Program::device_json() const {
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

LAB_INLINE bool Program::write(const std::string& path) const {
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

}  // namespace lab
