// A kernel of one block, or of a pair, that runs tcgen05 instructions on given shared memory and tensor memory, for the
// tests of tensor memory. Not held against hardware: expectations come from the PTX manual's formulas.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "device_fixture.h"

namespace warpgrind::device {

// Tensor memory as words: 128 lanes of 512 columns.
struct TensorImage {
  static constexpr unsigned kLanes = 128, kColumns = 512;
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(std::size_t{kLanes} * kColumns);
  std::uint32_t& at(unsigned lane, unsigned column) { return words[std::size_t{lane} * kColumns + column]; }
  std::uint32_t at(unsigned lane, unsigned column) const { return words[std::size_t{lane} * kColumns + column]; }
};

struct TensorRun {
  static constexpr std::uint32_t kSharedBytes = 96 * 1024;
  std::string whole;         // executed by all warps, with %w (the warp's number), %r0 to %r127
  std::string instructions;  // by one thread, with %a, %b, %z (64 bits), %i, %x, %y (32 bits), %p, %m0 to %m7
  bool frees = true;
  std::uint64_t a = 0, b = 0, z = 0;  // the address of shared memory is added to start addresses of a and b
  std::uint32_t i = 0, x = 0, y = 0;
  std::array<std::uint32_t, 8> masks{};  // %m0 to %m7
  bool p = true;
  bool pair = false;
  bool commits = true, waits = true;
  const char *gpu = "b200", *target = "sm_100a";
  std::vector<std::uint8_t> shared[2] = {std::vector<std::uint8_t>(kSharedBytes),
                                         std::vector<std::uint8_t>(kSharedBytes)};
  TensorImage before[2];
  TensorImage after[2];

  std::string text() const {
    const std::string group = pair ? "cta_group::2" : "cta_group::1";
    std::string s = R"(.version 8.8
.target TARGET
.address_size 64
.extern .shared .align 1024 .b8 data[];
.visible .entry run(.param .u64 shared, .param .u64 before, .param .u64 after, .param .u64 pa, .param .u64 pb,
                    .param .u64 pz, .param .u64 masks, .param .u32 pi, .param .u32 px, .param .u32 py, .param .u32 pp)
{
  .reg .pred %p, %q, %done; .reg .b64 %a, %b, %z, %g, %h, %l; .reg .b32 %t0, %i, %x, %y, %s, %k, %n, %w, %c, %e;
  .reg .b32 %m<8>, %v<8>, %r<128>; .reg .b16 %both;
  .shared .align 8 .b64 barrier; .shared .align 4 .b32 slot;
  mov.u32 %k, %tid.x; shr.u32 %w, %k, 5; mov.u32 %c, %ctaid.x;
  ld.param.u64 %g, [shared]; cvta.to.global.u64 %g, %g; mul.wide.u32 %l, %c, 98304; add.u64 %g, %g, %l;
  mov.u32 %s, data; mov.u32 %n, %k;
copy:
  shl.b32 %e, %n, 2; cvt.u64.u32 %l, %e; add.u64 %h, %g, %l; ld.global.b32 %v0, [%h];
  add.u32 %e, %e, %s; st.shared.b32 [%e], %v0;
  add.u32 %n, %n, 128; setp.lt.u32 %q, %n, 24576; @%q bra copy;
  setp.eq.u32 %q, %k, 0; @%q mbarrier.init.shared.b64 [barrier], 1;
  setp.ne.u32 %q, %w, 0; @%q bra allocated;
  tcgen05.alloc.GROUP.sync.aligned.shared::cta.b32 [slot], 512;
  tcgen05.relinquish_alloc_permit.GROUP.sync.aligned;
allocated:
  bar.sync 0;
  ld.shared.b32 %t0, [slot];
  ld.param.u64 %g, [before]; cvta.to.global.u64 %g, %g; mul.wide.u32 %l, %c, 262144; add.u64 %g, %g, %l;
  mul.wide.u32 %l, %k, 2048; add.u64 %g, %g, %l; mov.u32 %n, 0;
fill:
  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%g]; ld.global.v4.b32 {%v4, %v5, %v6, %v7}, [%g+16];
  shl.b32 %e, %w, 21; add.u32 %e, %e, %n; add.u32 %e, %e, %t0;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%e], {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7};
  add.u64 %g, %g, 32; add.u32 %n, %n, 8; setp.lt.u32 %q, %n, 512; @%q bra fill;
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  fence.proxy.async.shared::cta;
  bar.sync 0; CLUSTER
  tcgen05.fence::after_thread_sync;
  ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; ld.param.u64 %z, [pz];
  ld.param.u32 %i, [pi]; ld.param.u32 %x, [px]; ld.param.u32 %y, [py];
  ld.param.u32 %e, [pp]; setp.ne.u32 %p, %e, 0;
  ld.param.u64 %g, [masks]; cvta.to.global.u64 %g, %g;
  ld.global.v4.b32 {%m0, %m1, %m2, %m3}, [%g]; ld.global.v4.b32 {%m4, %m5, %m6, %m7}, [%g+16];
  shr.u32 %e, %s, 4; cvt.u64.u32 %l, %e; add.u64 %a, %a, %l; add.u64 %b, %b, %l;
  shl.b32 %e, %w, 21;
WHOLE
  add.u32 %e, %k, %c; setp.ne.u32 %q, %e, 0; @%q bra issued;
INSTRUCTIONS
COMMIT
issued:
WAIT
  tcgen05.fence::after_thread_sync;
  ld.param.u64 %g, [after]; cvta.to.global.u64 %g, %g; mul.wide.u32 %l, %c, 262144; add.u64 %g, %g, %l;
  mul.wide.u32 %l, %k, 2048; add.u64 %g, %g, %l; mov.u32 %n, 0;
save:
  shl.b32 %e, %w, 21; add.u32 %e, %e, %n; add.u32 %e, %e, %t0;
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%e];
  tcgen05.wait::ld.sync.aligned;
  st.global.v4.b32 [%g], {%v0, %v1, %v2, %v3}; st.global.v4.b32 [%g+16], {%v4, %v5, %v6, %v7};
  add.u64 %g, %g, 32; add.u32 %n, %n, 8; setp.lt.u32 %q, %n, 512; @%q bra save;
  bar.sync 0; CLUSTER
  setp.ne.u32 %q, %w, 0; @%q bra freed;
  tcgen05.dealloc.GROUP.sync.aligned.b32 %t0, 512;
freed:
  ret;
}
)";
    const auto put = [&](const std::string& name, const std::string& what) {
      for (std::size_t k = s.find(name); k != std::string::npos; k = s.find(name, k + what.size()))
        s.replace(k, name.size(), what);
    };
    put("WHOLE", whole.empty() ? "" : whole + " bar.sync 0;");  // the product must not begin before all warps are done
    put("INSTRUCTIONS", instructions);
    if (!frees) put("  tcgen05.dealloc.GROUP.sync.aligned.b32 %t0, 512;\n", "");
    put("COMMIT", !commits ? ""
                  : pair   ? "mov.b16 %both, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
                             ".multicast::cluster.b64 [barrier], %both;"
                           : "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [barrier];");
    put("WAIT", waits ? "wait:\n  mbarrier.try_wait.parity.shared.b64 %done, [barrier], 0; @!%done bra wait;"
                      : "  bar.sync 0;");
    put("CLUSTER", pair ? "barrier.cluster.arrive; barrier.cluster.wait;" : "");
    put("GROUP", group);
    put("TARGET", target);
    return s;
  }

  LaunchResult run() {
    Options options;
    options.workers = 1;
    Device device(0, **find_gpu_model(gpu), options);
    auto module = ptx::parse(text(), "run.ptx");
    EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message + module.error().detail);
    if (!module.ok()) return {};
    auto loaded = device.load(*module);
    EXPECT_TRUE(loaded.ok());
    const unsigned blocks = pair ? 2 : 1;
    constexpr std::size_t kImageBytes = std::size_t{TensorImage::kLanes} * TensorImage::kColumns * 4;
    auto* bytes = reinterpret_cast<std::uint8_t*>(*device.allocate(blocks * kSharedBytes));
    auto* in = reinterpret_cast<std::uint8_t*>(*device.allocate(blocks * kImageBytes));
    auto* out = reinterpret_cast<std::uint8_t*>(*device.allocate(blocks * kImageBytes));
    auto* lanes = reinterpret_cast<std::uint8_t*>(*device.allocate(sizeof masks));
    for (unsigned k = 0; k < blocks; ++k) {
      std::memcpy(bytes + k * kSharedBytes, shared[k].data(), kSharedBytes);
      std::memcpy(in + k * kImageBytes, before[k].words.data(), kImageBytes);
    }
    std::memcpy(lanes, masks.data(), sizeof masks);
    std::uint32_t enable = p ? 1 : 0;
    void* arguments[] = {&bytes, &in, &out, &a, &b, &z, &lanes, &i, &x, &y, &enable};
    LaunchConfig config = shape({blocks, 1, 1}, {128, 1, 1}, kSharedBytes);
    if (pair) config.cluster = {2, 1, 1};
    auto result = device.launch(*loaded, 0, config, arguments);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message + result.error().detail);
    if (!result.ok()) return {};
    for (unsigned k = 0; k < blocks; ++k) std::memcpy(after[k].words.data(), out + k * kImageBytes, kImageBytes);
    return result.take();
  }
};

// Fields of the instruction descriptor (PTX ISA, tables of "Instruction descriptor").
struct InstructionBits {
  unsigned d = 1, a = 0, b = 0, m = 128, n = 64;
  bool negate_a = false, negate_b = false, transpose_a = false, transpose_b = false, saturate = false;
  std::uint32_t bits() const {
    return saturate << 3 | d << 4 | a << 7 | b << 10 | negate_a << 13 | negate_b << 14 | transpose_a << 15 |
           transpose_b << 16 | (n >> 3) << 17 | (m >> 4) << 24;
  }
  // Block scaling: ids of the scale factors, and their type (1: UE8M0).
  std::uint32_t scaled_bits(unsigned a_id, unsigned b_id, unsigned type) const {
    return b_id << 4 | a << 7 | b << 10 | negate_a << 13 | negate_b << 14 | (n >> 3) << 17 | type << 23 |
           (m >> 7) << 27 | a_id << 29;
  }
};

// A matrix of `size`-byte elements in shared memory (PTX ISA, "Canonical Layouts"): byte address of an element, and the
// descriptor's bits. mode: 0 none, 6, 4, 2: swizzling of 32, 64, 128 bytes, 1: of 128 bytes with atoms of 32.
struct SharedMatrix {
  std::uint32_t start = 0;
  unsigned mode = 0, size = 2;
  bool by_depth = false;
  std::uint32_t leading = 0, stride = 0;

  std::uint32_t width() const { return mode == 0 ? 16 : mode == 6 ? 32 : mode == 4 ? 64 : 128; }
  std::uint32_t address(unsigned line, unsigned k) const {
    const unsigned in_piece = 16 / size;
    std::uint32_t at = start;
    if (!by_depth && mode == 0) {
      at += line % 8 * 16 + line / 8 * stride + k / in_piece * leading + k % in_piece * size;
    } else if (!by_depth) {
      at += line % 8 * width() + line / 8 * stride + k * size;
    } else {
      const unsigned group = line / in_piece, rows = mode == 1 ? 4 : 8;
      at += line % in_piece * size + k % rows * width();
      if (mode == 0)
        at += group * stride + k / rows * leading;
      else
        at += group % (width() / 16) * 16 + group / (width() / 16) * leading + k / rows * stride;
    }
    if (mode == 1) return at ^ (at >> 7 & 3) << 5;
    return at ^ (at >> 7 & (width() / 16 - 1)) << 4;
  }
  std::uint64_t bits() const {
    return std::uint64_t{start >> 4} | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
           std::uint64_t{1} << 46 | std::uint64_t{mode} << 61;
  }
};

// All words of tensor memory differ; nothing is committed.
inline TensorRun numbered_run() {
  TensorRun run;
  std::iota(run.before[0].words.begin(), run.before[0].words.end(), 1u);
  run.commits = run.waits = false;
  return run;
}

inline void expect_no_warnings(const LaunchResult& r) {
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (const Fault& w : r.warnings) ADD_FAILURE() << w.message;
}

}  // namespace warpgrind::device
