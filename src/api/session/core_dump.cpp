// Which launches get a core file, and what goes into it.
#include "session/core_dump.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "base/file.h"
#include "device/memory/address_space.h"
#include "device/memory/kept_memory.h"
#include "device/memory/written_pages.h"
#include "device/module.h"
#include "jit/layout.h"
#include "session/core_file.h"
#include "session/program.h"

namespace warpgrind::session {

namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text, size};
}

bool uses_textures(const ptx::Module& module, std::uint32_t kernel) {
  for (std::uint32_t f : jit::lay_out(module, kernel).functions)
    for (const ptx::Instruction& i : module.functions[f].body)
      if (ptx::info(i.opcode).op_class == InstructionClass::texture) return true;  // surfaces belong to it
  return false;
}

// What was in the ranges at the launch, without pages of zeroes. Adds to `pieces`, whose bytes lie in `store`.
// False: more than `limit` bytes.
bool add_contents(const device::MemorySnapshot& memory, const std::vector<device::Range>& ranges, std::uint64_t limit,
                  std::vector<std::unique_ptr<std::string>>& store, std::vector<CoreFile::Piece>& pieces) {
  constexpr std::uint64_t kPage = device::kHostPage, kStep = std::uint64_t{8} << 20;
  static constexpr std::array<char, kPage> kZeroes{};
  std::uint64_t total = 0;
  std::string bytes;
  for (const device::Range& range : ranges)
    for (std::uint64_t low = range.low; low < range.high; low += std::min(kStep, range.high - low)) {
      const std::uint64_t high = std::min(range.high, low + kStep);
      bytes.resize(high - low);
      memory.copy_before(low, high, reinterpret_cast<std::uint8_t*>(bytes.data()));
      const auto is_zero = [&](std::uint64_t at) {
        return std::memcmp(bytes.data() + at, kZeroes.data(), std::min(kPage, bytes.size() - at)) == 0;
      };
      for (std::uint64_t at = 0; at < bytes.size();) {
        std::uint64_t end = at;
        while (end < bytes.size() && !is_zero(end)) end += kPage;
        end = std::min<std::uint64_t>(end, bytes.size());
        if (end > at) {
          total += end - at;
          if (total > limit) return false;
          store.push_back(std::make_unique<std::string>(bytes, at, end - at));
          pieces.push_back({low + at, *store.back()});
        }
        at = end == at ? at + kPage : end;
      }
    }
  return true;
}

}  // namespace

LaunchStart::LaunchStart(std::uint64_t limit, const void* kernel) {
  device::KeptMemory::instance().begin(memory_, nullptr, limit, "", kernel);
}

LaunchStart::~LaunchStart() {
  device::KeptMemory::instance().end(memory_);
}

std::string LaunchStart::why_lost() const {
  return device::KeptMemory::instance().why_not(&memory_);
}

std::unique_ptr<LaunchStart> CoreDump::keep_start(const LaunchRequest& request) const {
  if (options_.core_path.empty() || done_.load(std::memory_order_relaxed)) return nullptr;
  return std::make_unique<LaunchStart>(options_.core_bytes, request.kernel);
}

void CoreDump::write_after(const LaunchStart& start, const LaunchRequest& request, const device::LoadedModule& module,
                           const device::LaunchResult& result) {
  if (!result.fault || result.fault->kind == device::FaultKind::interrupted || done_.exchange(true)) return;
  const Result<std::string> written = write(start, request, module, *result.fault);
  if (written) {
    print_line(fmt::format("the core file is {}; open it: warpgrind debug --core {}", *written, *written));
    return;
  }
  messages_.say_once("no core file: " + describe(written.error()));
}

std::string CoreDump::why_not_repeatable(const LaunchStart& start, const LaunchRequest& request,
                                         const device::LoadedModule& module, const device::Fault& fault) const {
  using device::FaultKind;
  if (fault.kind == FaultKind::timeout) return "the launch ended by the time limit, which another run does not repeat";
  if (fault.kind == FaultKind::out_of_resources) return "the host ran out of resources";
  if (module.launches_kernels()) return "kernels of its module launch kernels";
  for (int other = 0; other < devices_.count(); ++other)
    if (other != request.device && devices_.in_use(other)) return "the program uses several GPUs";
  if (request.device != 0) return "the launch is on a GPU that is not the first";
  if (uses_textures(module.module(), request.kernel->function)) return "the kernel uses textures or surfaces";
  if (std::string why = start.why_lost(); !why.empty()) return why;
  const auto table = device::AddressSpace::instance().snapshot();
  for (const device::Range& range : table->ranges()) {
    if (range.kernel_heap) return "kernels called malloc(), whose heap is not kept";
    if (range.file >= 0 || device::WrittenPages::instance().is_excluded(range.low, range.high))
      return "the program has memory that is mapped twice, or shared with other processes";
  }
  return {};
}

Result<std::string> CoreDump::write(const LaunchStart& start, const LaunchRequest& request,
                                    const device::LoadedModule& module, const device::Fault& fault) const {
  if (std::string why = why_not_repeatable(start, request, module, fault); !why.empty())
    return Error{ErrorKind::unsupported, "the launch cannot run again: " + why, ""};
  CoreFile core;
  core.options = options_;
  core.date = utc_now();
  core.process = static_cast<std::uint32_t>(::getpid());
  core.kernel = request.kernel->name;
  core.config = request.config;
  core.parameters = request.parameters.bytes;
  core.module = request.program->name();
  core.images = request.program->entries();
  core.globals = module.globals();
  core.base = device::AddressSpace::instance().reserved_base();
  core.ranges = device::AddressSpace::instance().snapshot()->ranges();
  core.fault = fault;
  std::vector<std::unique_ptr<std::string>> store;
  if (!add_contents(start.memory(), core.ranges, options_.core_bytes, store, core.memory))
    return Error{ErrorKind::unsupported,
                 fmt::format("memory has more than {} MiB that are not zero", options_.core_bytes >> 20),
                 "raise --core-limit"};
  std::string path = expand_core_path(options_.core_path);
  if (Status written = write_whole(path, encode_core(core)); !written) return written.error();
  return path;
}

std::string expand_core_path(const std::string& pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char kind = pattern[at] == '%' && at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (kind == 'h') {
      char name[256] = "";
      if (::gethostname(name, sizeof name - 1) == 0) out += name;
    } else if (kind == 'p') {
      out += std::to_string(::getpid());
    } else if (kind == 't') {
      out += std::to_string(std::time(nullptr));
    } else {
      out += pattern[at];
      continue;
    }
    ++at;
  }
  return out;
}

}  // namespace warpgrind::session
