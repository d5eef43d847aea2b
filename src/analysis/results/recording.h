// Recording of one block: everything that its warps did, step by step, for pages that go through a kernel forwards and
// backwards. A step is one warp at one source line: the lanes at that line, the memory that they access there, and the
// variables that have another value afterwards.
//
// Numbers of many lanes are texts in runs: see analysis/recorder/lane_text.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/types.h"
#include "results/detail.h"

namespace warpgrind::results {

struct RecordedPlace {
  std::string file, function;
  std::uint32_t line = 0;        // 0: not known
  std::vector<InlinedAt> calls;  // of the function, of its caller, and so on up to the kernel
};

struct RecordedVariable {  // of each lane
  std::string name, type, function;
  std::uint32_t line = 0;  // of the declaration
  bool parameter = false;
};

struct SharedMember {                                      // a number in a structure; members of inner structures too
  std::string name;                                        // "sum", "low.x"
  std::string format;                                      // as SharedVariable::format
  std::uint32_t offset = 0, bytes = 0, element_bytes = 0;  // in the structure; of an array all of it; of one number
};

struct SharedVariable {
  std::string name, type;
  std::string format;  // of a number: floating, signed, unsigned, half, bfloat16, boolean, character; empty: unknown
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t element_bytes = 0;    // of a number, or of a structure
  std::vector<SharedMember> members;  // of a structure
};

struct RecordedObject {  // global memory
  std::string name;      // of the parameter or variable that points to it; empty: unknown
  std::string type;      // of an element; empty: unknown
  std::string format;    // of its numbers, as SharedVariable::format
  std::optional<std::uint32_t> allocation;
  std::int64_t offset = 0;          // of the named pointer in the allocation
  std::uint32_t element_bytes = 0;  // 0: unknown
};

struct RecordedAccess {
  std::string kind;  // load, store, atomic, reduction
  std::string space;
  std::uint32_t bytes = 0;  // per lane
  LaneMask mask = 0;
  std::string addresses;                                      // runs over the lanes of `mask`
  std::string sizes;                                          // runs; bytes of each lane if they differ
  std::string values;                                         // runs; words, see recording_members.h
  std::optional<std::uint32_t> object;                        // global memory: index into Recording::objects
  std::optional<std::uint32_t> wavefronts, ideal_wavefronts;  // shared memory
  std::optional<std::uint32_t> sectors, ideal_sectors;        // global memory
  std::string from;                                           // another block of the cluster: its index
};

struct RecordedChange {
  std::uint32_t variable = 0;  // index into Recording::variables
  LaneMask mask = 0;
  std::string values;  // runs
};

struct RecordedStep {
  std::uint32_t warp = 0, place = 0;
  std::string lanes;  // mask as hexadecimal text; empty: as in the warp's step before
  std::vector<RecordedAccess> accesses;
  std::vector<RecordedChange> changes;
  std::string waits, opens;  // numbers of barriers
  std::uint32_t accesses_left_out = 0;
};

struct RecordedFault {  // that ended the launch
  std::string text, advice;
  std::optional<std::uint32_t> step;  // in which a warp of the block made it
  std::optional<std::uint32_t> lane;  // of that warp
};

struct Recording {
  std::string name, mangled_name;
  int device = 0;
  Dim3 grid, block;          // sizes
  Dim3 index{0, 0, 0};       // of the recorded block
  std::uint64_t launch = 0;  // number of the launch
  std::string range;         // NVTX ranges of the launch, joined by "/"
  std::uint64_t shared_bytes = 0;
  std::string no_variables;  // why there are none; empty: there are
  std::string cut;           // why it ends before the block does; empty: it is whole
  std::optional<RecordedFault> fault;
  std::vector<RecordedPlace> places;
  std::vector<RecordedVariable> variables;
  std::vector<SharedVariable> shared;
  std::vector<RecordedObject> objects;
  std::vector<RecordedStep> steps;
};

}  // namespace warpgrind::results
