// Size of memory operands, by the decoder Zydis.
#include "base/x86_access.h"

#include <Zydis/Zydis.h>

#include <optional>

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

struct DecodedAccess {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  const ZydisDecodedOperand* operand = nullptr;  // in memory; null: unknown
  unsigned bytes = 1;
};

void decode_access(const std::uint8_t* code, bool write, DecodedAccess& out) {
  ZydisDecoder decoder;
  if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
      !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, kLongest, &out.instruction, out.operands)))
    return;
  out.operand = accessed_operand(out.instruction, out.operands, write);
  if (!out.operand || may_access_one_byte(out.instruction)) return;
  const unsigned bits = is_masked(out.instruction) ? out.operand->element_size : out.operand->size;
  out.bytes = bits < kBitsOfByte ? 1 : bits / kBitsOfByte;
}

// Zydis numbers the registers of one width as the processor does.
std::optional<std::uint64_t> value_of(ZydisRegister name, const X86Registers& registers) {
  if (name == ZYDIS_REGISTER_NONE) return 0;
  if (name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15) return registers[name - ZYDIS_REGISTER_RAX];
  if (name >= ZYDIS_REGISTER_EAX && name <= ZYDIS_REGISTER_R15D)
    return static_cast<std::uint32_t>(registers[name - ZYDIS_REGISTER_EAX]);
  return std::nullopt;
}

// Address of the operand as the instruction writes it. Empty: it depends on vector registers or on a thread's segment.
std::optional<std::uint64_t> address_of(const DecodedAccess& access, const std::uint8_t* code,
                                        const X86Registers& registers) {
  const auto& memory = access.operand->mem;
  if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS) return std::nullopt;
  const auto displacement = static_cast<std::uint64_t>(memory.disp.value);
  if (memory.base == ZYDIS_REGISTER_RIP)
    return reinterpret_cast<std::uint64_t>(code) + access.instruction.length + displacement;
  const auto base = value_of(memory.base, registers), index = value_of(memory.index, registers);
  if (!base || !index) return std::nullopt;
  const std::uint64_t sum = *base + *index * memory.scale + displacement;
  constexpr unsigned kShort = 32;  // bits of an address with the prefix 0x67
  return access.instruction.address_width == kShort ? static_cast<std::uint32_t>(sum) : sum;
}

}  // namespace

unsigned access_bytes(const std::uint8_t* code, bool write) {
  DecodedAccess access;
  decode_access(code, write, access);
  return access.bytes;
}

unsigned access_bytes_from(std::uint64_t address, const std::uint8_t* code, bool write, const X86Registers& registers) {
  DecodedAccess access;
  decode_access(code, write, access);
  if (access.bytes == 1) return 1;
  const auto begin = address_of(access, code, registers);
  // The elements of a masked access, and the words that a bit test with a register chooses from, follow each other.
  return begin && address >= *begin ? access.bytes - static_cast<unsigned>((address - *begin) % access.bytes)
                                    : access.bytes;
}

}  // namespace warpgrind
