// Instruction selection: the number of machine instructions (issue slots) that ptxas makes of each PTX instruction.
#include "sass/select_instructions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"
#include "ptx/types.h"
#include "sass/registers.h"
#include "sass/uses.h"
#include "sass/wmma_accesses.h"

namespace warpgrind::sass {
namespace {

using ptx::Opcode;
using ptx::OperandKind;
using ptx::ScalarType;

bool is_immediate(const ptx::Operand& o) {
  return o.kind == OperandKind::immediate;
}

bool is_logic(Opcode o) {
  return o == Opcode::and_ || o == Opcode::or_ || o == Opcode::xor_ || o == Opcode::not_;
}

bool is_sum(Opcode o) {
  return o == Opcode::add || o == Opcode::sub;
}

bool is_compare(Opcode o) {
  return o == Opcode::setp || o == Opcode::set;
}

class Selection {
 public:
  Selection(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies,
            const TimingConstants& timing)
      : code_(code),
        module_(module),
        bodies_(bodies),
        uses_(code, bodies),
        wide_latency_(static_cast<float>(timing.wide_multiply_latency_cycles)) {}

  void run() {
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      absorbed_.assign(code_.blocks[b].instructions.size(), false);
      constants_.clear();
      for (std::uint32_t n = 0; n < code_.blocks[b].instructions.size(); ++n) select({b, n});
    }
    pair_parameters();
    reconverge();
    begin_kernel();
  }

 private:
  Instruction& instruction(Where w) { return code_.blocks[w.block].instructions[w.at]; }
  const ptx::Instruction& text(Where w) const { return uses_.text(w); }

  void select(Where w) {
    Instruction& i = instruction(w);
    if (i.merged_into != kNone) return;
    if (!uses_.alive(w)) {
      i.issue = 0;
      return;
    }
    i.issue = cost(w, i, text(w));
    if (i.issue == 0) i.latency = 0;  // its readers take its operand, or do its work
  }

  float cost(Where w, Instruction& i, const ptx::Instruction& t) {
    using Rule = ptx::CostRule;
    switch (Rule{ptx::info(t.opcode).cost}) {
      case Rule::move:
        return move(w, i, t);
      case Rule::load:
      case Rule::store:
        return access(i, t);
      case Rule::sum:
        return ptx::is_float(t.type()) ? i.issue : is_wide(t.type()) ? wide_sum(w, i, t) : sum(w, i, t);
      case Rule::logic:
        return logic(w, i, t);
      case Rule::product:
        return product(i, t);
      case Rule::conversion:
        return convert(w, i, t);
      case Rule::shift:
        return shift(i, t);
      case Rule::comparison:
        return compare(w, i, t);
      case Rule::comparison_value:
        return i.issue + 1;  // ISETP, SEL
      case Rule::extreme:
        return extreme(w, i, t);
      case Rule::choice:
        return choice(w, i, t);
      case Rule::sign:
        return ptx::is_float(t.type()) ? sign(i, t) : i.issue;
      case Rule::control:
      case Rule::return_:
        return i.pipe == Pipe::none ? 0.0f : i.issue;  // a branch may be replaced by a predicate
      case Rule::reciprocal:
      case Rule::root:
      case Rule::exponential:
        return special(i, t);
      case Rule::division:
        return division(i, t);
      case Rule::trigonometric:
        return 2;  // radians: a product first
      case Rule::atomic:
        return atomic(i, t);
      case Rule::matrix_load:
      case Rule::matrix_store:
        return matrix_access(i, t);
      case Rule::texture:
        return i.issue + 1;  // the upper half of its handle
      case Rule::leading_zeros:
        return is_wide(t.type()) ? 6.0f : 2.0f;  // FLO, and a difference; both halves of 64 bits
      case Rule::fence:
        return t.has(ptx::Modifier::cta) ? 1.0f : 4.0f;  // MEMBAR, ERRBAR, CGAERRBAR, CCTL.IVALL
      // Their neighbours change nothing.
      case Rule::none:
      case Rule::nothing:
      case Rule::special:
      case Rule::bit_count:
      case Rule::arithmetic:
      case Rule::multiplication:
      case Rule::multiplication_24:
      case Rule::absolute_difference:
      case Rule::integer:
      case Rule::zero_test:
      case Rule::float_test:
      case Rule::dot_product:
      case Rule::bit_extract:
      case Rule::bit_insert:
      case Rule::nth_bit:
      case Rule::cache_policy:
      case Rule::pending_count:
      case Rule::stack_allocation:
      case Rule::matrix:
      case Rule::barrier:
      case Rule::proxy_fence:
      case Rule::shuffle:
      case Rule::vote:
      case Rule::warp_reduction:
      case Rule::mbarrier_wait:
      case Rule::mbarrier_init:
      case Rule::mbarrier_update:
      case Rule::remote_store:
      case Rule::line_hint:
      case Rule::remote_reduction:
      case Rule::surface:
      case Rule::asynchronous_copy:
      case Rule::video_sum:
      case Rule::video_order:
      case Rule::video_difference:
      case Rule::video_shift:
      case Rule::video_product:
      case Rule::video_comparison:
      case Rule::video_halves:
      case Rule::video_halves_difference:
      case Rule::video_bytes:
      case Rule::video_bytes_difference:
        return i.issue;
    }
    WG_ASSERT(false);
    return i.issue;
  }

  // Subnormals: a comparison, and scaling before and after. A reciprocal's factor is also chosen for large numbers.
  static float special(const Instruction& i, const ptx::Instruction& t) {
    const bool keeps_subnormals = t.has(ptx::Modifier::approx) && !t.has(ptx::Modifier::ftz);
    if (t.type() == ScalarType::f32 && keeps_subnormals) return t.opcode == Opcode::rcp ? 7.0f : 4.0f;
    return i.issue;
  }

  // Approximations: MUFU.RCP, a product, and a comparison and two scalings for subnormals; .full has these for large
  // divisors, too. Integers with a sign need their absolute values, and the sign of the result.
  static float division(const Instruction& i, const ptx::Instruction& t) {
    if (ptx::is_signed(t.type()) && !is_wide(t.type())) return i.issue + (t.opcode == Opcode::rem ? 5.0f : 7.0f);
    const bool full = t.has(ptx::Modifier::full);
    if (t.type() != ScalarType::f32 || (!full && !t.has(ptx::Modifier::approx))) return i.issue;
    return 2 + (full ? 3.0f : 0.0f) + (t.has(ptx::Modifier::ftz) ? 0.0f : 3.0f);
  }

  // --- merging into other instructions ------------------------------------------------------------------------------

  // Returns the instruction of the same block that makes the operand only for this instruction. null: none, or the
  // operand has several readers or writers.
  Instruction* producer(Where w, const Instruction& i, const ptx::Operand& o, Where* where = nullptr) {
    const ptx::RegId r = uses_.reg(i, o);
    if (r == kNone || uses_.readers(r).size() != 1) return nullptr;
    const Where* from = uses_.only_writer(r);
    if (from == nullptr || from->block != w.block || from->at >= w.at) return nullptr;
    Instruction& p = instruction(*from);
    if (p.guarded != i.guarded || p.merged_into != kNone || p.issue == 0) return nullptr;
    if (where) *where = *from;
    return &p;
  }

  template <class May>
  bool absorb_one(Where w, const Instruction& i, const ptx::Instruction& t, May&& may) {
    for (std::size_t k = 1; k < t.operands.size(); ++k) {
      Where from;
      Instruction* p = producer(w, i, t.operands[k], &from);
      if (p == nullptr || !may(text(from), from)) continue;
      p->issue = p->latency = 0;
      absorbed_[w.at] = true;
      return true;
    }
    return false;
  }

  bool all_readers(ptx::RegId r, auto&& test) const {
    const std::vector<Where>& readers = uses_.readers(r);
    return !readers.empty() && std::all_of(readers.begin(), readers.end(), test);
  }

  bool only_addresses(ptx::RegId r) const {
    return all_readers(r, [&](const Where& reader) {
      const Instruction& i = uses_.instruction(reader);
      if (!i.load && !i.store && i.merged_into == kNone) return false;
      if (uses_.address_base(i) != r) return false;
      for (const ptx::Operand& o : uses_.text(i).operands)
        if (uses_.reg(i, o) == r) return false;  // also its data
      return true;
    });
  }

  // --- 32 bits ---------------------------------------------------------------------------------------------------

  float sum(Where w, Instruction& i, const ptx::Instruction& t) {
    const ptx::RegId to = i.writes.empty() ? kNone : i.writes[0];
    const bool once = to != kNone && uses_.only_writer(to) != nullptr;
    const bool constant = t.operands.size() > 2 && (is_immediate(t.operands[2]) || is_immediate(t.operands[1]));
    if (once && (constant || of_variable(i, t)) && only_addresses(to)) {
      if (constant) return 0;              // [R1+0x40]
      if (!sole_shift(w, i, t)) return 0;  // [R1+UR4]
    }
    absorb_one(w, i, t, [&](const ptx::Instruction& p, Where from) {
      if (is_wide(p.type()) || ptx::is_float(p.type())) return false;
      if (p.opcode == Opcode::shl || p.opcode == Opcode::shr)  // LEA, LEA.HI
        return is_immediate(p.operands[2]) && t.opcode == Opcode::add;
      if (p.opcode == Opcode::mul) return !p.has(ptx::Modifier::hi) && !p.has(ptx::Modifier::wide);  // IMAD
      if (p.opcode == Opcode::neg) return true;
      return is_sum(p.opcode) && !absorbed_[from.at];  // IADD3
    });
    return 1;
  }

  // Whether one operand is the address of a shared variable, which is in a uniform register.
  bool of_variable(const Instruction& i, const ptx::Instruction& t) const {
    return std::any_of(t.operands.begin(), t.operands.end(), [&](const ptx::Operand& o) {
      const ptx::RegId r = uses_.reg(i, o);
      const Where* from = r == kNone ? nullptr : uses_.only_writer(r);
      return from && uses_.text(*from).opcode == Opcode::mov &&
             uses_.text(*from).operands[1].kind == OperandKind::variable;
    });
  }

  bool sole_shift(Where w, const Instruction& i, const ptx::Instruction& t) {
    for (std::size_t k = 1; k < t.operands.size(); ++k) {
      Where from;
      if (producer(w, i, t.operands[k], &from) && text(from).opcode == Opcode::shl) return true;
    }
    return false;
  }

  float logic(Where w, Instruction& i, const ptx::Instruction& t) {
    if (t.type() == ScalarType::pred) {
      if (t.opcode == Opcode::not_) return 0;
      // ISETP.LT.AND P0, PT, R1, R2, P1
      const bool joined = absorb_pred(w, i, t);
      return joined ? 0.0f : 1.0f;
    }
    const bool wide = is_wide(t.type());
    bool small = false;  // the upper half is unchanged or zero
    if (wide && t.operands.size() > 2 && is_immediate(t.operands[2])) small = t.operands[2].bits >> 32 == 0;
    const auto may = [&](const ptx::Instruction& p, Where from) {
      return is_logic(p.opcode) && p.type() != ScalarType::pred && is_wide(p.type()) == wide &&
             (!absorbed_[from.at] || p.opcode == Opcode::not_);
    };
    const bool three = has_three_inputs(w, i, t, may);
    if (absorb_one(w, i, t, may) && three) absorb_one(w, i, t, may);
    return wide && !small ? 2.0f : 1.0f;
  }

  // (a & b) | (a ^ c): both operands are logic of three registers together.
  template <class May>
  bool has_three_inputs(Where w, const Instruction& i, const ptx::Instruction& t, May&& may) {
    if (t.operands.size() < 3) return false;
    std::set<ptx::RegId> inputs;
    for (std::size_t k = 1; k < 3; ++k) {
      Where from;
      const Instruction* p = producer(w, i, t.operands[k], &from);
      if (p == nullptr || !may(text(from), from)) return false;
      inputs.insert(p->reads.begin(), p->reads.end());
    }
    return inputs.size() <= 3;
  }

  // A comparison can combine its result with one predicate, so this operation needs no instruction of its own.
  bool absorb_pred(Where w, const Instruction& i, const ptx::Instruction& t) {
    if (t.opcode == Opcode::xor_) return false;
    for (std::size_t k = 1; k < t.operands.size(); ++k) {
      const ptx::RegId r = uses_.reg(i, t.operands[k]);
      const Where* from = r == kNone ? nullptr : uses_.only_writer(r);
      if (from && from->block == w.block && uses_.readers(r).size() == 1 && is_compare(text(*from).opcode)) return true;
    }
    return false;
  }

  float compare(Where w, Instruction& i, const ptx::Instruction& t) {
    const ScalarType type = t.type(t.types.size() - 1);
    if (ptx::is_float(type) || t.operands.size() < 3) return i.issue;
    if (is_wide(type)) return 2;
    const ptx::Operand& right = t.operands.back();
    const bool to_zero =
        is_immediate(right) && right.bits == 0 && (t.has(ptx::Modifier::eq) || t.has(ptx::Modifier::ne));
    if (to_zero)  // LOP3 P0, RZ, R1, R2
      absorb_one(w, i, t, [&](const ptx::Instruction& p, Where) { return is_logic(p.opcode) && !is_wide(p.type()); });
    return 1;
  }

  float extreme(Where w, Instruction& i, const ptx::Instruction& t) {
    if (ptx::is_float(t.type())) return i.issue;
    if (is_wide(t.type())) return 4;
    absorb_one(w, i, t, [&](const ptx::Instruction& p, Where from) {  // VIADDMNMX
      return is_sum(p.opcode) && !ptx::is_float(p.type()) && !is_wide(p.type()) && !absorbed_[from.at];
    });
    return 1;
  }

  // p ? a + b : c becomes c, and @p a + b in its place, where a + b has no other reader.
  float choice(Where w, Instruction& i, const ptx::Instruction& t) {
    if (t.opcode != Opcode::selp || is_wide(t.type()) || ptx::is_float(t.type())) return i.issue;
    const bool joined = absorb_one(w, i, t, [&](const ptx::Instruction& p, Where) {
      return (is_sum(p.opcode) || is_logic(p.opcode)) && p.type() != ScalarType::pred && !is_wide(p.type()) &&
             !ptx::is_float(p.type());
    });
    if (joined) i.selects = false;
    return i.issue;
  }

  float shift(const Instruction& i, const ptx::Instruction& t) const {
    if (!is_wide(t.type())) return 1;
    const bool constant = t.operands.size() > 2 && is_immediate(t.operands[2]);
    if (!constant) return 3;
    constexpr std::uint64_t kWord = 32;
    if (t.operands[2].bits == kWord && !ptx::is_signed(t.type())) return 0;  // the other register of the pair
    return i.issue >= 2 && t.operands[2].bits >= 32 ? 1.0f : 2.0f;
  }

  // FADD -R1, |R2|: a modifier of the operand. No store has it, so that one needs FADD or DADD R1, -RZ, -R1.
  float sign(Instruction& i, const ptx::Instruction& t) const {
    const bool stored = std::any_of(i.writes.begin(), i.writes.end(), [&](ptx::RegId r) {
      const std::vector<Where>& readers = uses_.readers(r);
      return std::any_of(readers.begin(), readers.end(), [&](const Where& w) { return uses_.instruction(w).store; });
    });
    if (!stored) return 0;
    if (t.type() == ScalarType::f32) i.operations[static_cast<std::size_t>(Operation::fadd)] = 1;
    if (t.type() == ScalarType::f64) i.operations[static_cast<std::size_t>(Operation::dadd)] = 1;
    return 1;
  }

  // --- 64 bits ---------------------------------------------------------------------------------------------------

  bool in_loop(std::uint32_t block) const {
    const auto& ways = code_.blocks[block].successors;
    return std::any_of(ways.begin(), ways.end(), [&](const Edge& e) { return e.to == block; });
  }

  // IMAD.WIDE R2, R4, 4, R6: product and sum in one, if the product is in the same block or cheap enough to repeat.
  // Then `joined` works as the product does.
  bool takes_product(Where w, const Instruction& i, const ptx::Instruction& t, Instruction* joined = nullptr) const {
    if (t.opcode != Opcode::add) return false;
    for (std::size_t k = 1; k < t.operands.size(); ++k) {
      const ptx::RegId r = uses_.reg(i, t.operands[k]);
      const Where* from = r == kNone ? nullptr : uses_.only_writer(r);
      if (from == nullptr) continue;
      const ptx::Instruction& p = uses_.text(*from);
      if (p.opcode != Opcode::mul || !p.has(ptx::Modifier::wide)) continue;
      if (from->block != w.block && !in_loop(w.block)) continue;
      if (joined != nullptr) {
        const Instruction product = uses_.instruction(*from);
        joined->pipe = product.pipe, joined->work = product.work, joined->latency = wide_latency_;
      }
      return true;
    }
    return false;
  }

  // The product of 64 bits before it adds the other operand: IMAD.WIDE R2, R4, R6, R8.
  bool is_sum_of_product(Where w, const Instruction& i, const ptx::Instruction& t) {
    if (t.opcode != Opcode::add) return false;
    for (std::size_t k = 1; k < t.operands.size(); ++k) {
      Where from;
      if (producer(w, i, t.operands[k], &from) == nullptr || absorbed_[from.at]) continue;
      const ptx::Instruction& p = text(from);
      if (p.opcode != Opcode::mul || p.has(ptx::Modifier::hi) || p.has(ptx::Modifier::wide)) continue;
      absorbed_[from.at] = true;
      return true;
    }
    return false;
  }

  float wide_sum(Where w, Instruction& i, const ptx::Instruction& t) {
    const ptx::RegId to = i.writes.empty() ? kNone : i.writes[0];
    const bool constant = t.operands.size() > 2 && is_immediate(t.operands[2]);
    if (constant && t.opcode == Opcode::add && to != kNone && uses_.only_writer(to) && only_addresses(to)) return 0;
    if (to != kNone && uses_.only_writer(to) && of_variable(i, t) && only_addresses(to)) return 0;  // c[0x3][R1+0x80]
    if (takes_product(w, i, t, &i)) return 1;
    if (is_sum_of_product(w, i, t)) return 0;
    absorb_one(w, i, t, [&](const ptx::Instruction& p, Where from) {
      if (!is_wide(p.type())) return false;
      if (p.opcode == Opcode::shl) return is_immediate(p.operands[2]);                 // LEA, LEA.HI.X
      return is_sum(p.opcode) && !absorbed_[from.at] && instruction(from).issue == 2;  // IADD3, IADD3.X
    });
    return 2;
  }

  float product(const Instruction& i, const ptx::Instruction& t) const {
    if (ptx::is_float(t.type())) return i.issue;
    const ptx::RegId to = i.writes.empty() ? kNone : i.writes[0];
    if (t.has(ptx::Modifier::wide)) {
      const bool joined =
          to != kNone && all_readers(to, [&](const Where& reader) {
            const ptx::Instruction& r = uses_.text(reader);
            return r.opcode == Opcode::add && is_wide(r.type()) && takes_product(reader, uses_.instruction(reader), r);
          });
      return joined ? 0.0f : 1.0f;
    }
    if (!is_wide(t.type()) || t.has(ptx::Modifier::hi)) return i.issue;
    unsigned narrow = 0;  // operands whose upper half is zero
    for (std::size_t k = 1; k < t.operands.size(); ++k) narrow += is_narrow(i, t.operands[k]) ? 1 : 0;
    return narrow == 2 ? 1.0f : narrow == 1 ? 3.0f : 4.0f;
  }

  bool is_narrow(const Instruction& i, const ptx::Operand& o) const {
    if (is_immediate(o)) return o.bits >> 32 == 0;
    const ptx::RegId r = uses_.reg(i, o);
    const Where* from = r == kNone ? nullptr : uses_.only_writer(r);
    if (from == nullptr) return false;
    const ptx::Instruction& p = uses_.text(*from);
    return p.opcode == Opcode::cvt && p.type(1) == ScalarType::u32;
  }

  // FFMA.SAT: the sum or product before it, or FADD.SAT.
  float saturate(Where w, Instruction& i, const ptx::Instruction& t) {
    const Instruction* p = producer(w, i, t.operands[1]);
    if (p == nullptr || p->pipe != Pipe::fma || p->issue != 1) return 1;
    i.latency = 0;
    return 0;
  }

  float convert(Where w, Instruction& i, const ptx::Instruction& t) {
    const ScalarType to = t.type(0), from = t.type(1);
    if (is_saturation(t)) return saturate(w, i, t);
    if (ptx::is_float(to) || ptx::is_float(from)) return 1;
    if (ptx::bits(to) <= ptx::bits(from)) return 0;  // half of a pair, or unused bits
    if (ptx::bits(from) < 32) return from_load(i, t) ? 0.0f : 1.0f;
    if (!ptx::is_signed(from)) return 0;  // RZ
    // LEA.HI.X.SX32 includes the sign extension.
    const ptx::RegId r = i.writes.empty() ? kNone : i.writes[0];
    const bool joined =
        r != kNone && uses_.readers(r).size() == 1 && is_sum(uses_.text(uses_.readers(r)[0]).opcode) &&
        !takes_product(uses_.readers(r)[0], uses_.instruction(uses_.readers(r)[0]), uses_.text(uses_.readers(r)[0]));
    return joined ? 0.0f : 1.0f;
  }

  // Loads extend their result for free.
  bool from_load(const Instruction& i, const ptx::Instruction& t) const {
    const ptx::RegId r = t.operands.size() > 1 ? uses_.reg(i, t.operands[1]) : kNone;
    const Where* writer = r == kNone ? nullptr : uses_.only_writer(r);
    return writer && (uses_.text(*writer).opcode == Opcode::ld) && uses_.text(*writer).vector == 1;
  }

  // --- moves and memory ------------------------------------------------------------------------------------------

  float move(Where w, const Instruction& i, const ptx::Instruction& t) {
    if (t.operands.size() != 2 || i.writes.empty()) return 0;
    const ptx::Operand& from = t.operands[1];
    switch (from.kind) {
      case OperandKind::sreg:
        return 1;  // S2R, S2UR, LDC
      case OperandKind::immediate:
        return constant(w, i, t, from);
      case OperandKind::variable:
        return variable(from, bodies_[i.function].function) ? 1.0f : 0.0f;
      case OperandKind::reg:  // renamed, unless both values are needed later
        return uses_.only_writer(i.writes[0]) == nullptr && t.type() != ScalarType::pred &&
                       uses_.readers(uses_.reg(i, from)).size() > 1
                   ? 1.0f
                   : 0.0f;
      default:
        return 0;
    }
  }

  // A constant becomes an operand of its readers, unless its register has other writers, or it is stored. An
  // instruction takes one constant of 32 bits; of a double, these are the upper ones. Others are put into registers
  // (mostly UMOV) in each block that reads them: ptxas does not move them out of loops.
  float constant(Where w, const Instruction& i, const ptx::Instruction& t, const ptx::Operand& from) {
    const ptx::RegId r = i.writes[0];
    if (uses_.only_writer(r) == nullptr) return 1;
    if (from.bits == 0) return 0;  // RZ
    const std::vector<Where>& readers = uses_.readers(r);
    for (const Where& reader : readers) {
      const Instruction& to = uses_.instruction(reader);
      if (to.store || to.atomic) return 1;
    }
    const bool two_words = t.type() == ScalarType::f64 && static_cast<std::uint32_t>(from.bits) != 0;
    if (!two_words && std::none_of(readers.begin(), readers.end(),
                                   [&](const Where& reader) { return has_another_constant(reader, r); }))
      return 0;
    const bool here = std::any_of(readers.begin(), readers.end(), [&](const Where& x) { return x.block == w.block; });
    return here && constants_.insert(from.bits).second ? (two_words ? 2.0f : 1.0f) : 0.0f;
  }

  // FFMA R1, R2, 2, 3 has one constant too many.
  bool has_another_constant(const Where& reader, ptx::RegId factor) const {
    const ptx::Instruction& t = uses_.text(reader);
    const Instruction& i = uses_.instruction(reader);
    constexpr std::size_t kAddend = 3;
    if (t.opcode != Opcode::fma || t.type() != ScalarType::f32 || t.operands.size() <= kAddend) return false;
    const ptx::Operand& addend = t.operands[kAddend];
    if (is_immediate(addend)) return addend.bits != 0;
    const ptx::RegId r = uses_.reg(i, addend);
    const Where* from = r == kNone || r == factor ? nullptr : uses_.only_writer(r);
    if (from == nullptr) return false;
    const ptx::Instruction& p = uses_.text(*from);
    return p.opcode == Opcode::mov && is_immediate(p.operands[1]) && p.operands[1].bits != 0;
  }

  // The address of a global variable needs a load; addresses in other spaces are offsets.
  bool variable(const ptx::Operand& o, const ptx::Function& function) const {
    const ptx::Variable& v = o.scope == ptx::Scope::module ? module_.variables[o.index] : function.variables[o.index];
    return v.space == StateSpace::global;
  }

  float access(Instruction& i, const ptx::Instruction& t) {
    if (t.space == StateSpace::param) return i.writes.empty() ? 0.0f : 1.0f;  // LDC, ULDC
    if (t.space == StateSpace::constant && uses_.address_base(i) == kNone)
      return static_cast<float>(std::max(1u, i.bytes / 8u));
    float more = 0;
    if (t.vector > 1 && ptx::bits(t.type()) < 32) {  // packing and unpacking: PRMT
      if (t.opcode == Opcode::st)
        more = static_cast<float>(t.vector - 1);
      else
        for (const ptx::RegId r : i.writes) more += uses_.readers(r).empty() ? 0.0f : 1.0f;
    }
    if (t.opcode == Opcode::st) more += stored_constants(t);
    return 1 + more;
  }

  float matrix_access(const Instruction& i, const ptx::Instruction& t) {
    if (t.opcode != Opcode::wmma_load && t.opcode != Opcode::wmma_store) return i.issue;  // LDSM, STSM
    const ptx::Operand* const stride = t.operands.size() > 2 ? &t.operands[2] : nullptr;
    const bool constant = stride == nullptr || uses_.is_number(i, *stride);
    wmma_strides_.insert(constant ? kNone : uses_.reg(i, *stride));
    return wmma_code(t, constant).total();
  }

  // atomicAdd of one value to one place by a whole warp: S2R (lane), VOTEU, FLO, POPC, ISETP, and the RED of one lane.
  // The old value, if used, comes by SHFL, with the number of lanes before it (S2R, LOP3, POPC, IADD3).
  float atomic(Instruction& i, const ptx::Instruction& t) const {
    constexpr float kVote = 5, kOldValue = 5;
    const bool integer = t.type() == ScalarType::u32 || t.type() == ScalarType::s32;
    const bool uniform = std::none_of(i.reads.begin(), i.reads.end(), [&](ptx::RegId r) { return uses_.varies(r); });
    const bool read =
        std::any_of(i.writes.begin(), i.writes.end(), [&](ptx::RegId r) { return !uses_.readers(r).empty(); });
    // In shared memory, ATOMS.POPC.INC counts lanes by itself, but returns nothing.
    const bool voted = i.pipe == Pipe::atomic_global || (i.pipe == Pipe::atomic_shared && read);
    i.aggregated = t.has(ptx::Modifier::add) && integer && uniform && voted && !t.guard;
    if (!i.aggregated) return i.issue + stored_constants(t);
    return i.issue + kVote + (read ? kOldValue : 0);
  }

  // Stored constants must first be moved to registers.
  static float stored_constants(const ptx::Instruction& t) {
    float n = 0;
    for (const ptx::Operand& o : t.operands) n += is_immediate(o) && o.bits != 0 ? 1.0f : 0.0f;
    return n;
  }

  // Adjacent 4-byte parameters that are first needed together become one load of 8 bytes.
  void pair_parameters() {
    for (Block& block : code_.blocks) {
      Instruction* half = nullptr;
      std::int64_t half_at = 0;
      std::uint32_t half_use = 0;
      std::vector<std::pair<std::int64_t, std::uint32_t>> loads;  // offset, index
      for (std::uint32_t n = 0; n < block.instructions.size(); ++n) {
        const Instruction& i = block.instructions[n];
        const ptx::Instruction& t = uses_.text(i);
        if (t.opcode != Opcode::ld || t.space != StateSpace::param || i.issue == 0 || i.function != 0) continue;
        if (t.vector == 1 && ptx::bits(t.type()) == 32) loads.push_back({offset_of(t), n});
      }
      std::sort(loads.begin(), loads.end());
      for (const auto& [offset, n] : loads) {
        Instruction& i = block.instructions[n];
        const std::uint32_t use = first_use(i);
        if (half && offset == half_at + 4 && half_at % 8 == 0 && use == half_use) {
          i.issue = 0;
          half = nullptr;
        } else {
          half = &i;
          half_at = offset;
          half_use = use;
        }
      }
    }
  }

  std::uint32_t first_use(const Instruction& i) const {
    std::uint32_t first = kNone;
    for (const ptx::RegId r : i.writes)
      for (const Where& reader : uses_.readers(r)) first = std::min(first, reader.block);
    return first;
  }

  std::int64_t offset_of(const ptx::Instruction& t) const {
    const ptx::Operand& o = t.operands[1];
    const ptx::Function& kernel = bodies_[0].function;
    std::int64_t at = 0;
    for (std::uint32_t v = 0; v < kernel.parameter_count; ++v) {
      const ptx::Variable& p = kernel.variables[v];
      const auto alignment = static_cast<std::int64_t>(std::max(1u, p.alignment));
      at = (at + alignment - 1) / alignment * alignment;
      if (v == o.index) break;
      at += static_cast<std::int64_t>(p.size);
    }
    return at + o.offset;
  }

  // --- control ---------------------------------------------------------------------------------------------------

  bool only_leaves(std::uint32_t to) const {
    if (to == Edge::kLeaves) return true;
    const Block& block = code_.blocks[to];
    return block.successors.size() == 1 && block.successors[0].to == Edge::kLeaves && block.instructions.size() == 1;
  }

  // For branches where lanes of a warp may diverge and meet again: BSSY before the branch, BSYNC where they meet.
  void reconverge() {
    std::vector<float> more(code_.blocks.size(), 0);
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      const Block& block = code_.blocks[b];
      if (block.successors.size() != 2 || block.instructions.empty()) continue;
      const Instruction& last = block.instructions.back();
      const ptx::Guard guard = uses_.text(last).guard;
      if (!guard || !uses_.varies(guard.reg + code_.first_register[last.function])) continue;
      const std::uint32_t one = block.successors[0].to, other = block.successors[1].to;
      if (only_leaves(one) || only_leaves(other)) continue;
      if (one <= b && other > b)
        more[other] += 2;  // a loop: its lanes meet after it
      else if (other <= b && one > b)
        more[one] += 2;
      else
        more[b] += 2;
    }
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (more[b] > 0) insert(b, Pipe::control, more[b]);
  }

  // Inserts an instruction that PTX does not have at the beginning of a block.
  void insert(std::uint32_t b, Pipe pipe, float issue) {
    Block& block = code_.blocks[b];
    if (block.instructions.empty()) return;
    Instruction i;
    i.function = block.instructions.front().function;
    i.ptx = block.instructions.front().ptx;
    i.added = true;
    i.facts_block = block.instructions.front().facts_block;
    i.pipe = pipe;
    i.issue = issue;
    i.latency = 1;
    block.instructions.insert(block.instructions.begin(), std::move(i));
  }

  void begin_kernel() {
    bool global = false, local = false;
    std::set<std::pair<ptx::Scope, std::uint32_t>> shared;
    for (const Block& block : code_.blocks)
      for (const Instruction& i : block.instructions) {
        global |= i.pipe == Pipe::global || i.pipe == Pipe::atomic_global;
        local |= i.pipe == Pipe::local;
        if (i.issue > 0 || uses_.text(i).opcode == Opcode::mov) note_shared(uses_.text(i), i.function, shared);
      }
    float constants = 1;         // LDC R1: the stack's end
    if (global) constants += 1;  // the descriptor of global memory
    insert(code_.entry, Pipe::constant, constants);
    float moves = local ? 1 : 0;  // the stack's beginning
    // The block's window of shared memory (S2UR, UMOV, ULEA), and one sum for each further variable.
    if (!shared.empty()) moves += 2 + static_cast<float>(shared.size());
    if (moves > 0) insert(code_.entry, Pipe::move, moves);
    if (wmma_strides_.empty()) return;
    insert(code_.entry, Pipe::alu, kWmmaLane + kWmmaStride * static_cast<float>(wmma_strides_.size()));
    code_.blocks[code_.entry].instructions.front().on_pipe[static_cast<std::size_t>(CountedPipe::lsu)] = 1;  // S2R
  }

  void note_shared(const ptx::Instruction& t, std::uint32_t function,
                   std::set<std::pair<ptx::Scope, std::uint32_t>>& shared) const {
    const auto& variables = bodies_[function].function.variables;
    for (const ptx::Operand& o : t.operands) {
      const bool is =
          o.kind == OperandKind::variable || (o.kind == OperandKind::address && o.base == OperandKind::variable);
      if (!is) continue;
      const bool of_module = o.scope == ptx::Scope::module;
      if ((of_module ? module_.variables[o.index] : variables[o.index]).space == StateSpace::shared)
        shared.insert({o.scope, o.index});
    }
  }

  Code& code_;
  const ptx::Module& module_;
  const std::vector<flow::Definitions>& bodies_;
  Uses uses_;
  float wide_latency_;                 // of IMAD.WIDE
  std::set<std::uint64_t> constants_;  // of this block, in registers
  std::set<ptx::RegId> wmma_strides_;  // of wmma.load and wmma.store; kNone: a constant
  std::vector<bool> absorbed_;         // by instruction of this block: has absorbed another one
};

}  // namespace

void select_instructions(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies,
                         const TimingConstants& timing) {
  if (!code.blocks.empty()) Selection(code, module, bodies, timing).run();
}

}  // namespace warpgrind::sass
