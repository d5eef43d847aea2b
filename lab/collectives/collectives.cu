// An all-reduce over several GPUs: after it, each has the sum of all arrays. By hand in five ways, and by NCCL.
#include "all_reduce.cuh"
#include "harness/several_gpus.h"

namespace {

using namespace collectives;

const lab::Topic kTopic = {
    .name = "collectives",
    .title = "the sum of an array of each GPU, on every GPU",
    .document = "002 (DTU)",
    .shows =
        "A ring loads all links alike and moves the least. For short arrays the number of steps counts instead. GB/s "
        "is the bus "
        "bandwidth of NCCL's tests: what each GPU must at least receive, over the time.",
    .size_names = "N",
    .quick_sizes = "4096,1048576",
    .full_sizes = "1024,65536,1048576,16777216,67108864",
    .types = "float",
    .rungs = {{"through_one", "all arrays go to the first GPU, which adds them and sends the sum to all"},
              {"one_shot", "no copies: each GPU loads all arrays and adds them, in one launch"},
              {"ring_copy", "a ring: each GPU sends a part to the next, which adds its own; then the sums go round"},
              {"ring_load", "the same ring, but kernels load from the GPU before instead of waiting for a copy"},
              {"two_shot",
               "each GPU adds one part of all arrays, then loads the other parts: two steps for any number of GPUs"},
              {"nccl", "ncclAllReduce", lab::Role::library}},
    .options = {{"devices", "4", "GPUs to use: rows for 2, 4, ... and this number; if not given, fewer will do"}},
};

lab::Case row(const char* rung, const lab::Size& size, int devices) {
  // Bytes: nccl-tests' doc/PERFORMANCE.md, bus bandwidth of AllReduce. Not flushed, because the flush reaches only the
  // first GPU.
  const double bytes = 2.0 * (devices - 1) / devices * 4.0 * size[0];
  return {rung, size, "float", {bytes, double(devices - 1) * size[0]}, {{"devices", double(devices)}}, /*cold=*/false};
}

constexpr const char* kOneGpu = "one GPU here; `warpgrind run --devices 4` gives more";

void all_rungs(lab::Program& program, const lab::Size& size, int devices, bool peers, Nccl& nccl) {
  AllReduce work(devices, size[0], 15);
  const auto run = [&](const char* rung, auto launch) {
    program.run(
        row(rung, size, devices), [&] { work.poison(); }, [&] { launch(); }, [&] { return work.verdict(); });
  };
  const auto run_with_peers = [&](const char* rung, auto launch) {
    if (peers)
      run(rung, launch);
    else
      program.skip(row(rung, size, devices), "these GPUs do not reach each other's memory");
  };
  run("through_one", [&] { work.through_one(); });
  run_with_peers("one_shot", [&] { work.one_shot(); });
  run("ring_copy", [&] { work.ring_copy(); });
  run_with_peers("ring_load", [&] { work.ring_load(); });
  run_with_peers("two_shot", [&] { work.two_shot(); });
  if (!program.chosen("nccl")) return;
  if (!nccl.missing().empty()) {
    program.skip(row("nccl", size, devices), nccl.missing());
    return;
  }
  nccl.use(devices);
  run("nccl", [&] { work.by(nccl); });
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const int most = lab::device_count(program, argc, argv, kMost);
  const bool peers = lab::enable_peers(most);
  if (!peers) program.note("peers", "These GPUs do not reach each other's memory: peer copies go through the host.");
  Nccl nccl;
  for (const lab::Size& size : program.sizes()) {
    if (size[0] < 1 || size[0] > (1L << 30)) {
      program.skip({"", size, "float", {}}, "fewer than 1 or more than 2^30 elements");
      continue;
    }
    if (!program.fits(size, 12.0 * size[0], (28.0 * most + 8) * size[0])) continue;
    if (most == 1)
      for (const lab::Rung& rung : kTopic.rungs) program.skip(row(rung.name, size, 2), kOneGpu);
    for (const int devices : lab::device_counts(most))
      if (devices > 1) all_rungs(program, size, devices, peers, nccl);
  }
  return program.finish();
}
