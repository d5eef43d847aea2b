// What is wrong with a program: one thing each, with the places that take part in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/types.h"
#include "results/detail.h"

namespace warpgrind::results {

// compute-sanitizer's words. Info: no effect on the result; never decides the exit code.
enum class Severity : std::uint8_t { info, warning, error };
const char* name(Severity severity);  // "INFO", "WARNING", "ERROR"

// The bytes of memory that a thread's access is about: `FindingAccess::bytes` of them from `offset` on, which is
// counted from the beginning of the object and may lie outside of it.
struct AccessedMemory {
  std::string space;               // "global", "shared", "local"
  std::uint64_t object = 0;        // its number, in the order in which the program made them; 0: none is known
  std::uint64_t object_bytes = 0;  // 0: not known
  std::int64_t offset = 0;         // without an object: from the beginning of the space, as far as that is known
};

// One that takes part: an access of a kernel's thread, a copy, a launch, a call of the host.
struct FindingAccess {
  std::string role;    // of several: "first", "second", "launch", "allocated", "freed", "waits"
  std::string access;  // "write", "read", "atomic", "launch", "cudaMemcpyAsync"
  std::string file, function;
  std::uint32_t line = 0, ptx_line = 0;
  std::vector<InlinedAt> inlined_at;  // the innermost first
  std::string ptx;                    // the instruction's text
  std::string kernel;                 // demangled; empty: not in a kernel
  std::uint64_t launch = 0;           // the piece of work of the program, 1, 2, 3 ... in the order of issue; 0: none
  std::string stream;                 // "stream 2"; empty: of no interest
  bool of_thread = false;             // block, thread are meant
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::uint32_t warp = 0, lane = 0;
  std::uint32_t bytes = 0;
  std::optional<AccessedMemory> memory;
  std::string object;  // "bytes 148..151 of `s` (float[128], shared memory)"
};

// Where what is wrong came from: the memory that was never written, the error that came first.
struct FindingOrigin {
  std::string kind;  // "cudaMalloc", "shared variable"
  std::string file;
  std::uint32_t line = 0;
  std::string object;
  std::vector<std::string> way;  // from there to the place of the finding, a line each
};

struct FindingCause {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
};

// kind: a stable word, listed in docs/checks.md for those of `warpgrind check`. kernel, file, line, text (the
// instruction), ptx_line, block, thread: of the first access.
struct Finding {
  std::string kind, message, advice, kernel, file, text;
  std::uint32_t line = 0, ptx_line = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::vector<std::string> notes;
  Severity severity = Severity::error;
  std::vector<FindingAccess> accesses;
  std::optional<FindingOrigin> origin;
  std::optional<FindingCause> cause;
  std::string group;        // of checks (checkers/selection.h), or "kernel": what ends one
  std::string error;        // of a call that failed: "cudaErrorInvalidValue"
  std::string missing;      // races: what would order the accesses
  std::uint64_t count = 1;  // how often it was seen; what is counted is in the notes
};

}  // namespace warpgrind::results
