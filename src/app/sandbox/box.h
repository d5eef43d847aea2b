// Box made by bubblewrap: its command line, and the process that runs it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/process.h"
#include "base/result.h"
#include "sandbox/sandbox.h"

namespace warpgrind::sandbox {

// A box that is ready and waits: the job's program starts when `gate` gets a byte.
struct Box {
  Process bubblewrap{-1, false};
  pid_t first = -1;        // the first process in the box: if it dies, all others die
  Descriptor first_alive;  // pidfd of `first`
  Descriptor output;       // the job's standard output and error
  Descriptor gate;
  Descriptor status;     // bubblewrap's reports, as JSON
  Descriptor processes;  // /proc of the box: shows only the box's processes
  Descriptor disk;       // /tmp of the box
  Descriptor work;       // kWorkFolder of the box
  int owner = -1;        // user of the box's files; -1: the current user
};

Result<Box> make_box(const Job& job);

}  // namespace warpgrind::sandbox
