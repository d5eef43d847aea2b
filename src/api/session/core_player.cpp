// The launch of a core file: its memory at the same addresses, its module, and the kernel.
#include "session/core_player.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "device/stop_handler.h"
#include "session/core_file.h"
#include "session/debugged.h"
#include "session/session.h"

namespace warpgrind::session {

namespace {

constexpr int kFailed = 2;

int fail_with(const Error& error) {
  print_line("error: " + describe(error));
  return kFailed;
}

// Both live to the end of the process: the images of the program refer to them.
Result<const CoreFile*> the_core(const std::string& path) {
  static Result<CoreFile>* read = nullptr;
  if (!read) {
    auto* const bytes = new std::optional<std::string>(read_whole(path, kLargestProgram));
    read = new Result<CoreFile>(
        *bytes ? decode_core(**bytes, path)
               : Error{ErrorKind::bad_input, fmt::format("cannot read {}: {}", path, std::strerror(errno)), ""});
  }
  if (!*read) return read->error();
  return static_cast<const CoreFile*>(&**read);
}

}  // namespace

void take_core_addresses(const std::string& path, void (*restart)()) {
  const auto core = the_core(path);
  if (!core) return;
  const auto is_free = [](std::uint64_t low, std::uint64_t bytes) {
    void* const made = mmap(reinterpret_cast<void*>(low), bytes, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return made != MAP_FAILED || errno != EEXIST;
  };
  if (const std::uint64_t base = (*core)->base; base != 0) {
    const auto [low, bytes] = device::AddressSpace::reservation_of(base);
    if (!is_free(low, bytes)) return restart();
  }
  if (!device::AddressSpace::instance().adopt((*core)->base, (*core)->ranges)) restart();
}

int play_core(const std::string& path) {
  const auto read = the_core(path);
  if (!read) return fail_with(read.error());
  const CoreFile& core = **read;
  if (device::AddressSpace::instance().snapshot()->ranges().size() != core.ranges.size())
    return fail_with({ErrorKind::environment, fmt::format("{}: the addresses of its memory are not free here", path),
                      "try again: the addresses of a process change"});
  for (const CoreFile::Piece& piece : core.memory)
    std::memcpy(reinterpret_cast<void*>(piece.address), piece.bytes.data(), piece.bytes.size());
  const auto program = programs().add(core.images, core.module);
  if (!program) return fail_with(program.error());
  run().use();
  device::Device& gpu = devices()[0];
  if (Status adopted = (*program)->adopt(gpu, core.globals); !adopted) return fail_with(adopted.error());
  for (const device::Range& range : core.ranges) gpu.define(range.low, range.high - range.low);
  const auto kernel = (*program)->kernel(core.kernel);
  if (!kernel) return fail_with(kernel.error());
  LaunchRequest request;
  request.program = *program;
  request.kernel = *kernel;
  request.config = core.config;
  request.config.counted = false;
  request.parameters.bytes = core.parameters;
  for (const jit::ParameterLayout& p : (*kernel)->parameters)
    if (p.offset + p.size > core.parameters.size())
      return fail_with({ErrorKind::bad_input, fmt::format("{}: {} has other parameters", path, core.kernel), ""});
  if (device::StopHandler* const debugger = debugger_of(options())) debugger->expect(core.fault);
  if (const auto fits = launches().prepare(request); const auto* no = std::get_if<Launches::Refusal>(&fits))
    return fail_with(no->error);
  const LaunchOutcome outcome = launches().run(request);
  devices().flush_output();
  if (outcome.error) return fail_with(*outcome.error);
  if (outcome.result->fault && device::is_same(*outcome.result->fault, core.fault)) return 0;
  return fail_with(
      {ErrorKind::unsupported,
       fmt::format("{}: the launch did not end by the fault of the core file ({}): it does not run the same "
                   "way every time",
                   path, core.fault.message),
       "it may read a clock, or memory that was written meanwhile"});
}

}  // namespace warpgrind::session
