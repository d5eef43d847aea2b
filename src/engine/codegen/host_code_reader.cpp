// Analysis of the host's machine code after a call (does it read the result register?), and look-up of source lines.
#include "codegen/host_code_reader.h"

#include <dlfcn.h>
#include <link.h>
#include <llvm/DebugInfo/Symbolize/Symbolize.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <sys/uio.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "base/descriptor.h"

namespace warpgrind::jit {

namespace {

// Limit of the analysis. The compiler's code between a call and the last use of its result is short: canaries, spills,
// epilogues.
constexpr unsigned kMostInstructions = 48;
constexpr std::size_t kLongestInstruction = 15;

// Number of bytes read. Not read through a pointer: the mapping of the code may end here.
ssize_t read_code(std::uint64_t address, std::uint8_t* bytes, std::size_t size) {
  iovec here{bytes, size}, there{reinterpret_cast<void*>(address), size};
  if (const ssize_t read = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0); read > 0) return read;
  // A sandbox refuses that call. The kernel also checks addresses of a write.
  Pipe pipe;
  if (!pipe.open()) return -1;
  const ssize_t written = ::write(pipe.write.get(), reinterpret_cast<const void*>(address), size);
  return written <= 0 ? written : ::read(pipe.read.get(), bytes, static_cast<std::size_t>(written));
}

class Disassembler {
 public:
  Disassembler() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetDisassembler();
    const std::string triple = llvm::sys::getProcessTriple();
    std::string problem;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (!target) return;
    registers_.reset(target->createMCRegInfo(triple));
    if (registers_) info_.reset(target->createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions()));
    instructions_.reset(target->createMCInstrInfo());
    subtarget_.reset(target->createMCSubtargetInfo(triple, "", ""));
    if (!registers_ || !info_ || !instructions_ || !subtarget_) return;
    analysis_.reset(target->createMCInstrAnalysis(instructions_.get()));
    context_ = std::make_unique<llvm::MCContext>(llvm::Triple(triple), info_.get(), registers_.get(), subtarget_.get());
    decoder_.reset(target->createMCDisassembler(*subtarget_, *context_));
    // EAX holds a 32-bit result. A use of RAX, AX or AL overlaps it.
    for (unsigned r = 1; r < registers_->getNumRegs(); ++r)
      if (llvm::StringRef(registers_->getName(r)) == "EAX") result_ = r;
  }

  ResultUse follow(std::uint64_t address, std::set<std::uint64_t>& seen) const {
    if (!decoder_ || !analysis_ || !result_) return ResultUse::unknown;
    while (seen.size() < kMostInstructions) {
      if (!seen.insert(address).second) return ResultUse::dropped;  // back at the start of a loop that never reads it
      llvm::MCInst instruction;
      std::uint64_t size = 0;
      if (!decode(address, instruction, size)) return ResultUse::unknown;
      const llvm::MCInstrDesc& d = instructions_->get(instruction.getOpcode());
      if (reads_result(instruction, d)) return ResultUse::used;
      if (d.isCall() || writes_result(instruction, d)) return ResultUse::dropped;
      if (d.isReturn()) return ResultUse::passed_on;
      if (d.isBranch()) {
        std::uint64_t target = 0;
        if (!analysis_->evaluateBranch(instruction, address, size, target)) return ResultUse::unknown;
        if (!d.isConditionalBranch()) {
          address = target;
          continue;
        }
        // A use on either way counts. A failed canary check ends in a call that never returns.
        const ResultUse taken = follow(target, seen), straight = follow(address + size, seen);
        for (ResultUse one : {ResultUse::used, ResultUse::unknown, ResultUse::passed_on})
          if (taken == one || straight == one) return one;
        return ResultUse::dropped;
      }
      if (d.isTerminator()) return ResultUse::unknown;
      address += size;
    }
    return ResultUse::unknown;
  }

 private:
  bool decode(std::uint64_t address, llvm::MCInst& out, std::uint64_t& size) const {
    std::uint8_t bytes[kLongestInstruction];
    const ssize_t read = read_code(address, bytes, sizeof bytes);
    if (read <= 0) return false;
    return decoder_->getInstruction(out, size, llvm::ArrayRef(bytes, static_cast<std::size_t>(read)), address,
                                    llvm::nulls()) == llvm::MCDisassembler::Success;
  }

  bool overlaps(unsigned reg) const { return reg && registers_->regsOverlap(reg, result_); }

  // `xor eax, eax` or `sub eax, eax`: zero whatever the register held, so not a use.
  bool clears(const llvm::MCInst& i, const llvm::MCInstrDesc& d) const {
    const llvm::StringRef name = instructions_->getName(i.getOpcode());
    if (!name.starts_with("XOR") && !name.starts_with("SUB")) return false;
    return i.getNumOperands() == 3 && i.getOperand(1).isReg() && i.getOperand(2).isReg() &&
           i.getOperand(1).getReg() == i.getOperand(2).getReg() && d.getNumDefs() == 1;
  }

  bool reads_result(const llvm::MCInst& i, const llvm::MCInstrDesc& d) const {
    if (d.isCall() || d.isReturn() || clears(i, d)) return false;
    for (unsigned o = d.getNumDefs(); o < i.getNumOperands(); ++o)
      if (i.getOperand(o).isReg() && overlaps(i.getOperand(o).getReg())) return true;
    for (unsigned reg : d.implicit_uses())
      if (overlaps(reg)) return true;
    return false;
  }

  bool writes_result(const llvm::MCInst& i, const llvm::MCInstrDesc& d) const {
    for (unsigned o = 0; o < d.getNumDefs() && o < i.getNumOperands(); ++o)
      if (i.getOperand(o).isReg() && overlaps(i.getOperand(o).getReg())) return true;
    for (unsigned reg : d.implicit_defs())
      if (overlaps(reg)) return true;
    return false;
  }

  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> info_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  unsigned result_ = 0;
};

std::mutex g_mutex;  // both readers below keep caches

}  // namespace

ResultUse read_result_use(const void* return_address) {
  const std::lock_guard lock(g_mutex);
  static auto* disassembler = new Disassembler;
  std::set<std::uint64_t> seen;
  return disassembler->follow(reinterpret_cast<std::uint64_t>(return_address), seen);
}

std::vector<HostPlace> read_host_places(const void* return_address) {
  const std::lock_guard lock(g_mutex);
  std::vector<HostPlace> out;
  Dl_info info{};
  link_map* map = nullptr;
  if (!::dladdr1(return_address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map) return {HostPlace{}};
  const bool executable = !map->l_name || !*map->l_name;
  const std::string file = executable ? "/proc/self/exe" : map->l_name;
  static auto* symbolizer = new llvm::symbolize::LLVMSymbolizer([] {
    llvm::symbolize::LLVMSymbolizer::Options options;
    options.Demangle = false;
    return options;
  }());
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(return_address) - map->l_addr - 1;
  auto frames = symbolizer->symbolizeInlinedCode(file, {address, llvm::object::SectionedAddress::UndefSection});
  if (!frames) {
    llvm::consumeError(frames.takeError());
    return {HostPlace{}};
  }
  for (std::uint32_t i = 0; i < frames->getNumberOfFrames(); ++i) {
    const llvm::DILineInfo& frame = frames->getFrame(i);
    HostPlace place;
    if (frame.FunctionName != llvm::DILineInfo::BadString) place.function = frame.FunctionName;
    if (frame.FileName != llvm::DILineInfo::BadString) place.file = frame.FileName;
    place.line = frame.Line;
    out.push_back(std::move(place));
  }
  if (out.empty()) out.push_back({});
  return out;
}

}  // namespace warpgrind::jit
