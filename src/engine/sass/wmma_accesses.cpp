#include "sass/wmma_accesses.h"

#include "ptx/wmma.h"

namespace warpgrind::sass {

WmmaCode wmma_code(const ptx::Instruction& i, bool constant_stride) {
  using Way = ptx::WmmaMove::Way;
  const auto w = ptx::wmma_move(i);
  if (!w) return {};
  WmmaCode code;
  const bool shared = i.space == StateSpace::shared;
  const auto requests = static_cast<float>(w->requests), registers = static_cast<float>(w->registers());
  code.lsu = requests + (w->way == Way::turned ? registers : 0.0f);  // MOVM is an instruction of this pipe
  // The pointer and the lane's distance: LEA, or in 64 bits IADD3 and IADD3.X or IMAD.X.
  code.alu = shared ? 1.0f : 1.64f;
  code.fma = shared ? 0.0f : 0.36f;
  // Further lines: IMAD.WIDE of the stride. tf32 has an address a request. Of tiles of other elements than 16-bit ones,
  // lines beyond the second need a sum of 64 bits, too.
  const float lines = i.type() == ptx::ScalarType::tf32 ? requests : static_cast<float>(w->line_count());
  if (!constant_stride) code.fma += lines - 1;
  const bool summed = !shared && (w->element_bits == 32 || (w->element_bits == 8 && w->way == Way::tiles));
  if (!constant_stride && summed && i.type() != ptx::ScalarType::tf32 && lines > 2)
    code.alu += 1.64f * (lines - 2), code.fma += 0.36f * (lines - 2);
  if (w->way == Way::elements && w->element_bits == 8) code.alu += registers, code.fma += 2 * registers;
  return code;
}

}  // namespace warpgrind::sass
