// Fixed-point iteration of forms and divergence.
#include "flow/forms.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "flow/liveness.h"
#include "flow/spin_loops.h"
#include "flow/transfer.h"

namespace warpgrind::flow {

using ptx::Instruction;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::RegId;

namespace {

std::optional<std::int64_t> join(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b && *a == *b ? a : std::nullopt;
}

Form join(const Form& a, const Form& b) {
  if (a.kind == FormKind::undefined) return b;
  if (b.kind == FormKind::undefined) return a;
  if (a.kind == FormKind::varying || b.kind == FormKind::varying) return varying_form();
  Form out = a;
  out.kind = std::max(a.kind, b.kind);
  if (a.kind == FormKind::wide && b.kind == FormKind::wide) {
    if (a.scale != b.scale || a.is_signed != b.is_signed) return varying_form();
  } else if (b.kind == FormKind::wide) {
    out.scale = b.scale;
    out.is_signed = b.is_signed;
  }
  out.kx = join(a.kx, b.kx);
  out.ky = join(a.ky, b.ky);
  out.zeros = std::min(a.zeros, b.zeros);
  return out;
}

// Only 32-bit integers may be affine, and only 64-bit integers may be wide.
Form fit(Form form, ptx::ScalarType type) {
  if (form.kind == FormKind::affine && (ptx::bits(type) != 32 || !ptx::is_integer(type))) return varying_form();
  if (form.kind == FormKind::wide && (ptx::bits(type) != 64 || !ptx::is_integer(type))) return varying_form();
  return form;
}

class Analysis {
 public:
  Analysis(const ptx::Function& f, const ControlFlow& cfg, const LaneLayout& layout)
      : f_(f), cfg_(cfg), layout_(layout), live_(find_live_registers(f, cfg)) {
    out_.forms.resize(f.registers.size());
    out_.divergent.assign(cfg.blocks.size(), false);
    out_.blend.assign(cfg.blocks.size(), std::vector<bool>(f.registers.size(), false));
    out_.spin_head = find_spin_loops(f, cfg);
  }

  FormAnalysis run() {
    do {
      for (bool changed = true; changed;) {
        changed = propagate();
        changed |= find_divergence();
      }
    } while (begin_with_zero());
    for (Form& form : out_.forms)
      if (form.kind == FormKind::undefined) form = uniform_form(0);  // never read, or not reached
    WG_ASSERT(out_.divergent.size() == cfg_.blocks.size() && out_.forms.size() == f_.registers.size());
    return std::move(out_);
  }

 private:
  bool set(RegId r, Form form) {
    WG_DEBUG_ASSERT(r < out_.forms.size());
    const Form next = join(out_.forms[r], fit(form, f_.registers[r].type));
    const Form fitted = fit(next, f_.registers[r].type);
    if (fitted == out_.forms[r]) return false;
    out_.forms[r] = fitted;
    return true;
  }

  // A register that is read but never written is 0 (codegen/kernel/registers.cpp), and values computed from it have a
  // form: LLVM builds a .v4.b8 by bytes in such a register. This runs after propagation, because a register that is
  // written somewhere takes the form of the written values.
  bool begin_with_zero() {
    bool found = false;
    for (RegId r = 0; r < out_.forms.size(); ++r)
      if (out_.forms[r].kind == FormKind::undefined && live_.live_in(0, r))
        out_.forms[r] = uniform_form(0), found = true;
    return found;
  }

  bool guard_varies(const Instruction& i) const { return i.guard && out_.forms[i.guard.reg].kind == FormKind::varying; }

  bool propagate() {
    bool changed_ever = false;
    std::vector<WrittenRegister> written;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b : cfg_.order)
        for (std::uint32_t n = cfg_.blocks[b].first; n < cfg_.blocks[b].end; ++n) {
          const Instruction& i = f_.body[n];
          results_written(i, written);
          for (const WrittenRegister& w : written) {
            const Form form = guard_varies(i) ? varying_form() : result_form(i, w.place, out_.forms, layout_, f_);
            changed |= set(w.reg, form);
          }
        }
      changed_ever |= changed;
    }
    return changed_ever;
  }

  // Blocks where the lanes that wait at a split of `block` resume later.
  std::vector<std::uint32_t> resume_points(std::uint32_t block) const {
    WG_ASSERT(cfg_.blocks[block].successors.size() > 1);
    const BasicBlock& b = cfg_.blocks[block];
    std::vector<std::uint32_t> points{b.post_dominator};
    const bool one_side_waits =
        std::find(b.successors.begin(), b.successors.end(), b.post_dominator) != b.successors.end();
    if (!one_side_waits || b.successors.size() > 2)
      for (std::uint32_t s : b.successors) points.push_back(s);
    return points;
  }

  void mark_region(std::uint32_t block) {
    std::vector<bool> seen(cfg_.blocks.size(), false);
    std::vector<std::uint32_t> work;
    const std::uint32_t stop = cfg_.blocks[block].post_dominator;
    const auto visit = [&](std::uint32_t s) {
      if (s != cfg_.exit() && s != stop && !seen[s]) seen[s] = true, work.push_back(s);
    };
    for (std::uint32_t s : cfg_.blocks[block].successors) visit(s);
    std::vector<std::uint32_t> region;
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      region.push_back(b);
      for (std::uint32_t s : cfg_.blocks[b].successors) visit(s);
    }
    std::vector<bool> keep(f_.registers.size(), false);
    for (std::uint32_t point : resume_points(block))
      if (point != cfg_.exit())
        for (std::size_t r = 0; r < keep.size(); ++r) keep[r] = keep[r] || live_.live_in(point, static_cast<RegId>(r));
    std::vector<RegId> written;
    for (std::uint32_t b : region)
      for (std::uint32_t n = cfg_.blocks[b].first; n < cfg_.blocks[b].end; ++n) {
        registers_written(f_.body[n], written);
        for (RegId r : written)
          if (keep[r]) {
            out_.blend[b][r] = true;
            set(r, varying_form());
          }
      }
  }

  bool find_divergence() {
    bool changed = false;
    for (std::uint32_t b : cfg_.order) {
      if (out_.divergent[b] || cfg_.blocks[b].successors.size() < 2) continue;
      const Instruction& last = f_.body[cfg_.blocks[b].end - 1];
      bool varies = guard_varies(last);
      if (last.opcode == Opcode::brx_idx)
        varies |= operand_form(last.operands[0], out_.forms, layout_, f_).kind != FormKind::uniform;
      if (!varies) continue;
      out_.divergent[b] = out_.any_divergence = changed = true;
      mark_region(b);
    }
    return changed;
  }

  const ptx::Function& f_;
  const ControlFlow& cfg_;
  const LaneLayout layout_;
  LiveRegisters live_;
  FormAnalysis out_;
};

}  // namespace

FormAnalysis analyse_forms(const ptx::Function& function, const ControlFlow& cfg, const LaneLayout& layout) {
  return Analysis(function, cfg, layout).run();
}

}  // namespace warpgrind::flow
