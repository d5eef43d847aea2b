// bubblewrap: its command line, and the process that becomes it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/descriptor.h"
#include "sandbox/sandbox.h"

namespace warpgrind::sandbox {

// A box that is made and waits: the job's program starts when `gate` gets a byte.
struct Box {
  pid_t bubblewrap = -1;
  pid_t first = -1;        // the first process in the box: with it all others die
  Descriptor first_alive;  // a pidfd of it
  Descriptor output;       // the job's standard output and error
  Descriptor gate;
  Descriptor status;     // bubblewrap's reports, as JSON
  Descriptor processes;  // /proc of the box: its own processes and no others
  Descriptor disk;       // /tmp of the box
  Descriptor work;       // kWorkFolder of the box
  int owner = -1;        // user of the box's files; -1: this one
};

Result<Box> make_box(const Job& job);

}  // namespace warpgrind::sandbox
