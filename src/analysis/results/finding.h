// Findings: single errors of a program, with the accesses that take part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/types.h"
#include "results/detail.h"

namespace warpgrind::results {

// Named as in compute-sanitizer. Info: no effect on the program's result; never changes the exit code.
enum class Severity : std::uint8_t { info, warning, error };
const char* name(Severity severity);  // "INFO", "WARNING", "ERROR"

// Memory of a thread's access: `FindingAccess::bytes` bytes from `offset` on. `offset` counts from the start of the
// object and may lie outside it.
struct AccessedMemory {
  std::string space;               // "global", "shared", "local"
  std::uint64_t object = 0;        // number of the object, in order of creation; 0: unknown
  std::uint64_t object_bytes = 0;  // 0: unknown
  std::int64_t offset = 0;         // without an object: from the start of the space, as far as known
};

// One participant of a finding: an access of a kernel's thread, a copy, a launch, a call of the host.
struct FindingAccess {
  std::string role;    // if there are several: "first", "second", "launch", "allocated", "freed", "waits"
  std::string access;  // "write", "read", "atomic", "launch", "cudaMemcpyAsync"
  std::string file, function;
  std::uint32_t line = 0, ptx_line = 0;
  std::vector<InlinedAt> inlined_at;  // calls around `line`, innermost first
  std::optional<HeaderPlace> header;
  std::string ptx;           // the instruction's text
  std::string kernel;        // demangled; empty: not in a kernel
  std::uint64_t launch = 0;  // number of the stream work, 1, 2, 3 ... in order of issue; 0: none
  std::string stream;        // "stream 2"; empty: not relevant
  bool of_thread = false;    // block, thread, warp and lane are valid
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::uint32_t warp = 0, lane = 0;
  std::uint32_t bytes = 0;
  std::optional<AccessedMemory> memory;
  std::string object;  // "bytes 148..151 of `s` (float[128], shared memory)"
};

// Origin of the error: the memory that was never written, or the first error.
struct FindingOrigin {
  std::string kind;  // "cudaMalloc", "shared variable"
  std::string file;
  std::uint32_t line = 0;
  std::string object;
  std::vector<std::string> way;  // steps from the origin to the finding, one line each
};

struct FindingCause {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
};

// kind: a stable word; docs/checks.md lists those of `warpgrind check`. kernel, file, line, text (the instruction),
// ptx_line, block and thread describe the first access.
struct Finding {
  std::string kind, message, advice, kernel, file, text;
  std::uint32_t line = 0, ptx_line = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::vector<std::string> notes;
  Severity severity = Severity::error;
  std::vector<FindingAccess> accesses;
  std::optional<FindingOrigin> origin;
  std::optional<FindingCause> cause;
  std::string group;        // group of checks (checkers/selection.h), or "kernel": an error that ends a kernel
  std::string error;        // error code of a failed call: "cudaErrorInvalidValue"
  std::string missing;      // races: the synchronisation that would order the accesses
  std::uint64_t count = 1;  // number of occurrences; the notes say what is counted
};

}  // namespace warpgrind::results
