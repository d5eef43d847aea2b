// Timing: one kernel, measured with the CPU's clock and with events, in the right way and in the usual wrong ways. Each
// row has both clocks around the same lines of the program, so that the difference shows the mistake.
#include "harness/harness.h"

constexpr int kThreads = 256;
constexpr int kSteps = 16;

// Claim: any kernel that takes long enough will do: read a float, a chain of multiply-adds, write it. The number makes
// separate instances, because the first launch of each loads its code.
template <int kInstance>
__global__ void chain(const float* in, float* out, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int step = 0; step < kSteps; ++step) x = fmaf(x, 0.5f, 0.25f + kInstance);
  out[i] = x;
}

namespace {

const lab::Topic kTopic = {
    .name = "timing",
    .title = "one kernel timed by CPU timer and by events, right and wrong",
    .document = "000 (COSC 407)",
    .shows =
        "A launch returns before the kernel has run. A CPU timer is right only between two synchronisations; the GPU "
        "itself records events, in stream order, which avoids most "
        "mistakes.",
    .size_names = "N",
    .quick_sizes = "65536,1048576",
    .full_sizes = "65536,1048576,16777216,268435456",
    .rungs = {{"first launch", "the first launch of a kernel, timed correctly: includes loading it", lab::Role::sweep},
              {"one launch", "synchronise, start, launch, synchronise, stop: right for one launch", lab::Role::sweep},
              {"many launches", "the mean of launches that queue up: their issue is hidden", lab::Role::sweep},
              {"no synchronisation", "the CPU's clock is stopped when the launch returns", lab::Role::sweep},
              {"busy start", "the CPU's clock is started while an earlier kernel still runs", lab::Role::sweep},
              {"with copies", "includes the copies of input and output", lab::Role::sweep},
              {"events by hand", "each launch between its own two events", lab::Role::sweep}},
    .options = {{"launches", "100", "number of launches for the mean"}},
};

struct Sample {
  double cpu = 0, gpu = 0;
};

class Measurements {
 public:
  Measurements(lab::Program& program, const lab::Size& size, int launches)
      : program_(program),
        size_(size),
        launches_(launches),
        n_(static_cast<int>(size[0])),
        host_(lab::Random(1).floats(n_)),
        back_(n_),
        in_(host_),
        out_(n_) {}

  void all() {
    first_launch();
    kernel<0>();  // loaded from here on
    CHECK_KERNEL();
    one_launch();
    many_launches();
    no_synchronisation();
    busy_start();
    with_copies();
    events_by_hand();
    unfinished_events();
    explain();
  }

 private:
  template <int kInstance>
  void kernel() {
    chain<kInstance><<<lab::blocks(n_, kThreads), kThreads>>>(in_.data(), out_.data(), n_);
  }

  void first_launch() {
    if (&size_ != &program_.sizes().front())
      return program_.skip({"first launch", size_, "float", {}}, "loaded by the run at the first size");
    measure<1>("first launch", 1, [&] {
      Sample s;
      const double wall = lab::wall_us(), begin = lab::host_us();
      start_.record();
      kernel<1>();
      stop_.record();
      CHECK_CUDA(cudaDeviceSynchronize());
      s.cpu = lab::host_us() - begin;
      first_wall_us_ = lab::wall_us() - wall;
      s.gpu = stop_.us_since(start_);
      return s;
    });
  }

  void one_launch() {
    measure("one launch", kRepetitions, [&] {
      Sample s;
      const double begin = lab::host_us();
      start_.record();
      kernel<0>();
      stop_.record();
      CHECK_CUDA(cudaDeviceSynchronize());
      s.cpu = lab::host_us() - begin;
      s.gpu = stop_.us_since(start_);
      return s;
    });
  }

  void many_launches() {
    measure("many launches", 3, [&] {
      Sample s;
      const double begin = lab::host_us();
      start_.record();
      for (int i = 0; i < launches_; ++i) kernel<0>();
      stop_.record();
      CHECK_CUDA(cudaDeviceSynchronize());
      s.cpu = (lab::host_us() - begin) / launches_;
      s.gpu = stop_.us_since(start_) / launches_;
      return s;
    });
  }

  void no_synchronisation() {
    measure("no synchronisation", kRepetitions, [&] {
      Sample s;
      start_.record();
      const double begin = lab::host_us();
      kernel<0>();
      s.cpu = lab::host_us() - begin;  // wrong: the kernel has hardly begun
      stop_.record();
      s.gpu = stop_.us_since(start_);
      return s;
    });
  }

  void busy_start() {
    measure("busy start", kRepetitions, [&] {
      Sample s;
      for (int i = 0; i < kEarlier; ++i) kernel<0>();
      const double begin = lab::host_us();  // wrong: the GPU still runs the earlier launches
      start_.record();
      kernel<0>();
      stop_.record();
      CHECK_CUDA(cudaDeviceSynchronize());
      s.cpu = lab::host_us() - begin;
      s.gpu = stop_.us_since(start_);
      return s;
    });
  }

  void with_copies() {
    measure("with copies", 3, [&] {
      Sample s;
      const double begin = lab::host_us();
      start_.record();
      CHECK_CUDA(cudaMemcpy(in_.data(), host_.data(), in_.bytes(), cudaMemcpyHostToDevice));
      kernel<0>();
      CHECK_CUDA(cudaMemcpy(back_.data(), out_.data(), out_.bytes(), cudaMemcpyDeviceToHost));
      stop_.record();
      CHECK_CUDA(cudaDeviceSynchronize());
      s.cpu = lab::host_us() - begin;
      s.gpu = stop_.us_since(start_);
      return s;
    });
  }

  // The events measure the kernel alone. On an idle stream they also include the host's time to issue it.
  void events_by_hand() {
    measure("events by hand", kRepetitions, [&] {
      Sample s;
      kernel<0>();  // keeps the GPU busy until all three are in the queue
      start_.record();
      kernel<0>();
      stop_.record();
      const double begin = lab::host_us();
      CHECK_CUDA(cudaEventSynchronize(stop_.get()));
      s.cpu = lab::host_us() - begin;
      s.gpu = stop_.us_since(start_);
      return s;
    });
  }

  // The runtime's answer if the elapsed time is requested too early.
  void unfinished_events() {
    lab::Event start, stop;
    start.record();
    for (int i = 0; i < kEarlier; ++i) kernel<0>();
    stop.record();
    float ms = 0;
    early_ = cudaEventElapsedTime(&ms, start.get(), stop.get());
    if (early_ != cudaSuccess) cudaGetLastError();
    CHECK_KERNEL();
  }

  template <int kInstance = 0, class Once>
  void measure(const char* rung, int repetitions, Once once) {
    const lab::Case c{rung, size_, "float", {2.0 * in_.bytes(), 2.0 * kSteps * n_}};
    if (!program_.chosen(rung)) return;
    std::vector<double> cpu, gpu;
    out_.poison();
    const int count = lab::on_virtual_gpu() || program_.line().once() ? 1 : repetitions;
    for (int i = 0; i < count; ++i) {
      CHECK_CUDA(cudaDeviceSynchronize());
      const lab::Range range(program_.range_of(c));
      const Sample s = once();
      CHECK_KERNEL();
      cpu.push_back(s.cpu);
      gpu.push_back(s.gpu);
    }
    const lab::Timing by_cpu = lab::Timing::of(cpu), by_events = lab::Timing::of(gpu);
    program_.row(c, by_events, by_cpu, verify<kInstance>());
    add_line(rung, by_cpu.median, by_events.median);
  }

  // Does the same fused multiply-adds in the same order: equal to the last bit.
  template <int kInstance>
  lab::Verdict verify() {
    std::vector<float> expected(host_);
    for (float& x : expected)
      for (int step = 0; step < kSteps; ++step) x = std::fmaf(x, 0.5f, 0.25f + kInstance);
    return lab::compare(out_.host(), expected);
  }

  void add_line(const char* rung, double cpu, double gpu) {
    char line[96];
    std::snprintf(line, sizeof line, "%-20s %12.2f %12.2f   ", rung, cpu, gpu);
    const std::string name = rung;
    lines_ += line;
    lines_ += name == "first launch"         ? "loading the kernel is part of both"
              : name == "one launch"         ? "right; CPU: with the way there and back"
              : name == "many launches"      ? "right; the kernel alone, if the queue never runs dry"
              : name == "no synchronisation" ? "CPU wrong: only the launch call"
              : name == "busy start"         ? "CPU wrong: the earlier launches too"
              : name == "with copies"        ? "both: three things, one number"
                                             : "events right; CPU: only the waiting";
    lines_ += '\n';
  }

  void explain() {
    if (lines_.empty()) return;
    char text[700];
    std::string out = "                       CPU timer       events   (us) what the CPU's clock shows\n" + lines_;
    std::snprintf(text, sizeof text,
                  "busy start: %d launches are still queued when the clock starts.\n"
                  "many launches: the mean of %d between one pair of synchronisations.\n"
                  "cudaEventElapsedTime before the GPU has reached the second event: %s.\n",
                  kEarlier, launches_, cudaGetErrorName(early_));
    out += text;
    if (lab::on_virtual_gpu() && first_wall_us_ > 0) {
      std::snprintf(
          text, sizeof text,
          "The first launch took %.1f ms of this computer, for translating the kernel or fetching it from the\n"
          "cache; the timeline has what loading its code takes on the modelled host.\n",
          first_wall_us_ / 1e3);
      out += text;
    }
    out +=
        "clock(), the documents' CPU timer, counts processor time of the process: it is the time that passed\n"
        "only where the host spins while it waits (the default), not with cudaDeviceScheduleBlockingSync.\n";
    program_.note("what each way measures, N = " + size_.text(), out);
  }

  static constexpr int kRepetitions = 20, kEarlier = 8;
  lab::Program& program_;
  const lab::Size& size_;
  int launches_, n_;
  std::vector<float> host_, back_;
  lab::DeviceArray<float> in_, out_;
  lab::Event start_, stop_;
  double first_wall_us_ = 0;
  cudaError_t early_ = cudaSuccess;
  std::string lines_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const int launches = static_cast<int>(program.line().option_number("launches", 1, 100000));
  for (const lab::Size& size : program.sizes()) {
    if (size[0] > 0x7fffffff - kThreads) program.line().fail("this topic takes at most 2147483391 elements");
    if (!program.fits(size, 8.0 * size[0], 16.0 * size[0])) continue;
    if (lab::grid_fits(lab::blocks(size[0], kThreads)))
      Measurements(program, size, launches).all();
    else
      program.skip({"", size, "float", {}}, "a grid of this GPU has fewer blocks");
  }
  return program.finish();
}
