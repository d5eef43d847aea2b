// Size of memory operands, by the decoder Zydis.
#include "base/x86_access.h"

#include <Zydis/Zydis.h>

namespace warpgrind {

namespace {

constexpr unsigned kBitsOfByte = 8;
constexpr std::size_t kLongest = 15;  // bytes of an instruction

const ZydisDecodedOperand* accessed_operand(const ZydisDecodedInstruction& instruction,
                                            const ZydisDecodedOperand* operands, bool write) {
  const ZydisOperandActions wanted = write ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ;
  const ZydisDecodedOperand* found = nullptr;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
    if ((operand.actions & wanted) != 0) return &operand;
    if (!found) found = &operand;
  }
  return found;
}

bool is_masked(const ZydisDecodedInstruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
      return true;
    default:
      return instruction.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED;
  }
}

bool may_access_one_byte(const ZydisDecodedInstruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:  // a mask of bytes, whatever Zydis calls the elements
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
      return true;
    default:
      return instruction.meta.category == ZYDIS_CATEGORY_XSAVE;  // a mask of components
  }
}

}  // namespace

unsigned access_bytes(const std::uint8_t* code, bool write) {
  ZydisDecoder decoder;
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, kLongest, &instruction, operands)))
    return 1;
  const ZydisDecodedOperand* const operand = accessed_operand(instruction, operands, write);
  if (!operand || may_access_one_byte(instruction)) return 1;
  const unsigned bits = is_masked(instruction) ? operand->element_size : operand->size;
  return bits < kBitsOfByte ? 1 : bits / kBitsOfByte;
}

}  // namespace warpgrind
