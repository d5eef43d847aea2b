#include "sass/register_reads.h"

#include <algorithm>
#include <cstdint>

#include "sass/register_words.h"

namespace warpgrind::sass {
namespace {

// Assumed for the instructions of a sequence, such as a division.
constexpr float kOfSequence = 2;

bool is_arithmetic(const Instruction& i) {
  return i.pipe == Pipe::alu || i.pipe == Pipe::fma || i.pipe == Pipe::imad || i.pipe == Pipe::half;
}

class RegisterReads {
 public:
  RegisterReads(Code& code, const std::vector<flow::Definitions>& bodies, const Uses& uses)
      : code_(code), words_(code, bodies, uses) {}

  void run() {
    for (Block& block : code_.blocks) {
      std::vector<ptx::RegId> before, now;
      for (Instruction& i : block.instructions) {
        if (i.issue <= 0) continue;
        if (i.issue > 1 || i.added) {
          i.register_reads = kOfSequence * i.issue;
          before.clear();
          continue;
        }
        now.clear();
        for (const ptx::RegId r : i.reads) words_.each_source(r, [&](ptx::RegId from) { note(from, now); });
        i.register_reads = i.issue * words_read(i, before, now);
        if (is_arithmetic(i)) before.swap(now);
      }
    }
  }

 private:
  void note(ptx::RegId r, std::vector<ptx::RegId>& to) const {
    if (words_(r) != 0 && std::find(to.begin(), to.end(), r) == to.end()) to.push_back(r);
  }

  // An operand of the arithmetic instruction before is still in the scheduler's reuse cache.
  float words_read(const Instruction& i, const std::vector<ptx::RegId>& before,
                   const std::vector<ptx::RegId>& now) const {
    std::uint32_t words = 0;
    for (const ptx::RegId r : now)
      if (!is_arithmetic(i) || std::find(before.begin(), before.end(), r) == before.end()) words += words_(r);
    return static_cast<float>(words);
  }

  Code& code_;
  const RegisterWords words_;
};

}  // namespace

void count_register_reads(Code& code, const std::vector<flow::Definitions>& bodies, const Uses& uses) {
  if (!code.blocks.empty()) RegisterReads(code, bodies, uses).run();
}

}  // namespace warpgrind::sass
