// Pipe counts: distributes the issue slots of each instruction over the pipes that Nsight Compute counts.
#include "sass/pipe_counts.h"

#include <algorithm>
#include <optional>

#include "ptx/types.h"
#include "sass/registers.h"
#include "sass/wmma_accesses.h"

namespace warpgrind::sass {
namespace {

using ptx::Opcode;
using ptx::OperandKind;
using ptx::ScalarType;

// Shares counted in machine code of the lab and the microbenchmark (ptxas 13.0): MOV versus IMAD.MOV, and CS2R and
// HFMA2 that make constants; IADD3 of two operands versus VIADD and IMAD.IADD; upper halves of sums as IADD3.X or
// LEA.HI.X versus IMAD.X; SHF.L versus IMAD.SHL.
constexpr float kMoveAlu = 0.27f, kMoveFma = 0.51f;
constexpr float kSumAlu = 0.32f;
constexpr float kUpperSumAlu = 0.64f;
constexpr float kShiftLeftAlu = 0.43f;

class PipeCounts {
 public:
  PipeCounts(Code& code, const Uses& uses) : code_(code), uses_(uses) {}

  void run() {
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      for (std::uint32_t n = 0; n < code_.blocks[b].instructions.size(); ++n) {
        Instruction& i = code_.blocks[b].instructions[n];
        if (i.issue <= 0 || (i.merged_into != kNone && i.pipe == Pipe::none)) continue;
        if (i.added)
          add_added(i);
        else
          add(i, uses_.text(i), {b, n});
      }
  }

 private:
  static void put(Instruction& i, CountedPipe pipe, float n) { i.on_pipe[static_cast<std::size_t>(pipe)] += n; }
  static void put_moves(Instruction& i, float n) {
    put(i, CountedPipe::alu, kMoveAlu * n);
    put(i, CountedPipe::fma, kMoveFma * n);
  }
  static unsigned operations(const Instruction& i, Operation first) {
    const auto at = static_cast<std::size_t>(first);
    return unsigned{i.operations[at]} + i.operations[at + 1] + i.operations[at + 2];
  }

  // The kernel's prologue (S2UR, UMOV, ULEA, LDC) and reconvergence (BSSY, BSYNC) are on no counted pipe. Of the code
  // added around a loop, half are comparisons.
  static void add_added(Instruction& i) {
    if (i.pipe == Pipe::alu) put(i, CountedPipe::alu, i.issue / 2);
  }

  // Bulk and tensor copies, their prefetches, and the end of a group of them.
  static bool is_bulk(Opcode o) {
    return o == Opcode::cp_async_bulk || o == Opcode::cp_reduce_async_bulk || o == Opcode::cp_async_bulk_prefetch ||
           o == Opcode::cp_async_bulk_tensor || o == Opcode::cp_reduce_async_bulk_tensor ||
           o == Opcode::cp_async_bulk_prefetch_tensor || o == Opcode::cp_async_bulk_commit_group;
  }

  void add(Instruction& i, const ptx::Instruction& t, Where w) {
    if (is_bulk(t.opcode)) return put(i, CountedPipe::tma, 1);
    if (t.opcode == Opcode::wmma_load || t.opcode == Opcode::wmma_store) return matrix_access(i, t);
    switch (i.pipe) {
      case Pipe::move:
        return move(i, t);
      case Pipe::alu:
        return integer(i, t, w);
      case Pipe::imad:
        return product(i, t);
      case Pipe::fma:
      case Pipe::fp64:
      case Pipe::xu:
        return floating(i, t);
      case Pipe::global:
      case Pipe::shared:
      case Pipe::local:
      case Pipe::atomic_global:
      case Pipe::atomic_shared:
        return memory(i);
      case Pipe::texture:
        return put(i, CountedPipe::tex, 1);
      case Pipe::fence:
        return fence(i, t);
      case Pipe::shuffle:
        if (t.opcode == Opcode::shfl) return put(i, CountedPipe::lsu, 1);
        return;
      default:
        return;
    }
  }

  static void move(Instruction& i, const ptx::Instruction& t) {
    if (t.opcode != Opcode::mov) return put(i, CountedPipe::alu, i.issue);  // PRMT, SHF
    const ptx::Operand& from = t.operands[1];
    // Of constants of two words, most are made by UMOV, which is on no counted pipe.
    constexpr float kNotUniform = 0.15f;
    if (t.type() == ScalarType::f64 && from.kind == OperandKind::immediate) return put_moves(i, kNotUniform * i.issue);
    if (from.kind != OperandKind::sreg) return put_moves(i, i.issue);
    using S = ptx::SpecialRegister;
    if (from.sreg == S::tid_x || from.sreg == S::tid_y || from.sreg == S::tid_z || from.sreg == S::laneid)
      put(i, CountedPipe::lsu, 1);
  }

  void integer(Instruction& i, const ptx::Instruction& t, Where w) {
    const bool sum = (t.opcode == Opcode::add || t.opcode == Opcode::sub) && !ptx::is_float(t.type());
    if (t.opcode == Opcode::div || t.opcode == Opcode::rem) return division(i);
    if (sum && is_wide(t.type())) {
      if (i.issue <= 1) return put(i, CountedPipe::fma, i.issue);  // IMAD.WIDE
      put(i, CountedPipe::alu, i.issue / 2 * (1 + kUpperSumAlu));
      return put(i, CountedPipe::fma, i.issue / 2 * (1 - kUpperSumAlu));
    }
    float alu = 1;
    if (sum) alu = share_of_sum(i, t, w);
    if (t.opcode == Opcode::shl && !is_wide(t.type())) alu = kShiftLeftAlu;
    put(i, CountedPipe::alu, i.issue * alu);
    put(i, CountedPipe::fma, i.issue * (1 - alu));
  }

  // Share of a sum on the ALU pipe. With a product it is an IMAD; with a shift or another sum it is LEA or IADD3;
  // otherwise it is either kind.
  float share_of_sum(const Instruction& i, const ptx::Instruction& t, Where w) const {
    for (const ptx::Operand& o : t.operands) {
      const ptx::RegId r = uses_.reg(i, o);
      const Where* from = r == kNone ? nullptr : uses_.only_writer(r);
      if (from == nullptr || from->block != w.block || from->at >= w.at || uses_.instruction(*from).issue > 0) continue;
      using ptx::IntegerOperation;
      const IntegerOperation operation = ptx::info(uses_.text(*from).opcode).integer;
      if (operation == IntegerOperation::product) return 0;
      if (operation == IntegerOperation::shift_left || operation == IntegerOperation::sum ||
          operation == IntegerOperation::difference)
        return 1;
    }
    return kSumAlu;
  }

  // Sequence of ptxas for u % v: I2F, MUFU, F2I and seven multiplications; the rest are sums and comparisons.
  static void division(Instruction& i) {
    constexpr float kOnXu = 3, kOnFma = 7;
    put(i, CountedPipe::xu, kOnXu);
    put(i, CountedPipe::fma, i.issue * kOnFma / 20);
    put(i, CountedPipe::alu, i.issue * (20 - kOnXu - kOnFma) / 20);
  }

  static void product(Instruction& i, const ptx::Instruction& t) {
    const bool long_one = is_wide(t.type()) && !t.has(ptx::Modifier::wide) && i.issue > 1;
    put(i, CountedPipe::fma, long_one ? i.issue - 1 : i.issue);
    if (long_one) put(i, CountedPipe::alu, 1);  // IADD3 of the upper halves
  }

  // What a sequence of several instructions has besides the operations that are counted by name (sm_90, ptxas 13.0).
  struct Sequence {
    float xu = 1;     // MUFU, FCHK
    float alu = 0;    // comparisons, and sums of exponents
    float fma = 0;    // scalings
    float moves = 0;  // of constants
  };
  static std::optional<Sequence> sequence_of(const ptx::Instruction& t) {
    using ptx::Modifier;
    const bool twice = t.type() == ScalarType::f64, rough = t.has(Modifier::approx) || t.has(Modifier::full);
    const bool keeps_subnormals = !t.has(Modifier::ftz), full = t.has(Modifier::full);
    if (!twice && t.type() != ScalarType::f32) return std::nullopt;
    if (t.opcode == Opcode::div) {
      if (twice) return Sequence{1, 2, 0, 1};
      const bool constant = t.operands[2].kind == OperandKind::immediate;  // its MUFU.RCP is done by ptxas
      if (!rough) return constant ? Sequence{1, 0, 0, 1} : Sequence{2, 0, 0, 0};
      const float small = keeps_subnormals ? 1 : 0, large = full ? 1 : 0;  // each: a comparison and two scalings
      return Sequence{1, small + large, 2 * (small + large), 0};
    }
    if (t.opcode == Opcode::sqrt && !rough) return twice ? Sequence{1, 3, 0, 3} : Sequence{1, 2, 0, 0};
    if (t.opcode == Opcode::rcp && !rough) return Sequence{1, twice ? 2.0f : 3.0f, 0, 0};
    if (twice)
      return t.opcode == Opcode::rsqrt && keeps_subnormals ? std::optional(Sequence{1, 2, 0, 3}) : std::nullopt;
    const ptx::CostRule rule = ptx::info(t.opcode).cost;
    if (rule == ptx::CostRule::trigonometric) return Sequence{1, 0, 1, 0};
    const bool scaled =
        rule == ptx::CostRule::reciprocal || rule == ptx::CostRule::root || rule == ptx::CostRule::exponential;
    if (!scaled || !rough || !keeps_subnormals) return std::nullopt;
    return Sequence{1, t.opcode == Opcode::rcp ? 4.0f : 1.0f, 2, 0};
  }

  static void floating(Instruction& i, const ptx::Instruction& t) {
    const ptx::CostRule rule = ptx::info(t.opcode).cost;
    if (rule == ptx::CostRule::bit_count ||
        rule == ptx::CostRule::leading_zeros) {  // POPC, FLO or BREV of 32 bits; the rest are sums
      const float halves = is_wide(t.type()) ? 2 : 1;
      put(i, CountedPipe::xu, halves);
      return put(i, CountedPipe::alu, i.issue - halves);
    }
    const auto single = static_cast<float>(operations(i, Operation::fadd));
    const auto twice = static_cast<float>(operations(i, Operation::dadd));
    put(i, CountedPipe::fma, single);
    put(i, CountedPipe::fp64, twice);
    if (const std::optional<Sequence> s = sequence_of(t)) {
      put(i, CountedPipe::xu, s->xu);
      put(i, CountedPipe::alu, s->alu);
      put(i, CountedPipe::fma, s->fma);
      return put_moves(i, s->moves);
    }
    const float left = i.issue - single - twice;
    if (left <= 0) return;
    if (single + twice == 0 && left <= 1) return put(i, plain(i.pipe), left);
    if (rule == ptx::CostRule::extreme) {  // DSETP, three selects, and moves
      put(i, CountedPipe::fp64, 1);
      put(i, CountedPipe::alu, 3);
      return put_moves(i, left - 4);
    }
    put(i, CountedPipe::xu, 1);
    put(i, CountedPipe::alu, (left - 1) / 2);
  }
  static CountedPipe plain(Pipe pipe) {
    return pipe == Pipe::fp64 ? CountedPipe::fp64 : pipe == Pipe::xu ? CountedPipe::xu : CountedPipe::fma;
  }

  // MEMBAR, ERRBAR and, for scopes beyond the block, CCTL.IVALL. Fences of proxies have none of these.
  static void fence(Instruction& i, const ptx::Instruction& t) {
    if (t.has(ptx::Modifier::cta) || t.opcode == Opcode::fence_proxy) return;
    put(i, CountedPipe::lsu, 2);
    put(i, CountedPipe::tex, 1);
  }

  void matrix_access(Instruction& i, const ptx::Instruction& t) const {
    const WmmaCode code = wmma_code(t, t.operands.size() < 3 || uses_.is_number(i, t.operands[2]));
    put(i, CountedPipe::lsu, code.lsu);
    put(i, CountedPipe::alu, code.alu);
    put(i, CountedPipe::fma, code.fma);
  }

  static void memory(Instruction& i) {
    put(i, CountedPipe::lsu, 1);
    if (i.aggregated) {  // S2R, POPC, ISETP: choice of the adding lane; S2R, SHFL, POPC: the old value
      const float twice = i.issue > 10 ? 1 : 0;
      put(i, CountedPipe::lsu, 1 + 2 * twice);
      put(i, CountedPipe::xu, 1 + 2 * twice);
      put(i, CountedPipe::alu, 1 + 2 * twice);
    } else if (i.issue > 1) {
      put_moves(i, i.issue - 1);
    }
  }

  Code& code_;
  const Uses& uses_;
};

}  // namespace

void count_pipes(Code& code, const Uses& uses) {
  if (!code.blocks.empty()) PipeCounts(code, uses).run();
}

}  // namespace warpgrind::sass
