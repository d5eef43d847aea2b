// Box made by bubblewrap: its command line, the start of the process, and the wait until the box exists.
#include "sandbox/box.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "sandbox/system_calls.h"

namespace warpgrind::sandbox {

namespace {

// Owner of the boxes if warpgrind runs as root. Files of /proc and of the system that only root may read then stay
// unreadable. The kernel's limits, from which root is exempt, apply.
constexpr uid_t kNobody = 65534;
constexpr const char* kMade = "/tmp/.made";  // the last folder that bubblewrap makes: if it exists, all do
constexpr int kPatience = 10000;             // ms until a box is made

struct CommandLine {
  std::vector<std::string> words;
  std::vector<Descriptor> opened;  // descriptors that the command line names by number
  struct Reached {
    std::string path;
    std::string place;
    bool folder;
  };
  std::vector<Reached> reached;
  void add(std::initializer_list<std::string> more) { words.insert(words.end(), more); }
};

// /lib and similar folders are links into /usr on most systems.
void add_system(CommandLine& line) {
  line.add({"--ro-bind", "/usr", "/usr"});
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::array<char, 256> target;
    const ssize_t length = readlink(folder, target.data(), target.size());
    if (length > 0) {
      line.add({"--symlink", std::string(target.data(), length), folder});
    } else {
      line.add({"--ro-bind-try", folder, folder});
    }
  }
  for (const char* path :
       {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"}) {
    line.add({"--ro-bind-try", path, path});
  }
  line.add({"--proc", "/proc", "--dir", "/dev"});
  // No --dev: its pseudo terminals would count against a number that the whole machine shares.
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    line.add({"--dev-bind", device, device});
  }
  line.add({"--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0", "/dev/stdin", "--symlink",
            "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr"});
}

// Needed as root: the box's user may be unable to reach a place that it may read (/root/app). Such places are first
// bound below kReach, in a mount namespace of bubblewrap's own.
constexpr const char* kReach = "/mnt";

Status add_readable(CommandLine& line, const Job& job, bool reach) {
  for (const std::filesystem::path& path : job.readable) {
    const std::string text = path.lexically_normal().string();
    if (!path.is_absolute() || text == "/" || text == "/proc" || text == "/dev" || text == "/tmp" ||
        (text + "/").starts_with(std::string(kWorkFolder) + "/")) {
      return Error{ErrorKind::bad_input, fmt::format("sandbox: '{}' cannot be shown to a job", path.string()), ""};
    }
    struct stat about;
    if (stat(text.c_str(), &about) != 0) continue;
    std::string source = text;
    if (reach) {
      source = fmt::format("{}/{}", kReach, line.reached.size());
      line.reached.push_back({text, source, S_ISDIR(about.st_mode)});
    }
    line.add({"--ro-bind", source, text});
  }
  return Ok{};
}

// Whether this process may mount; root in a container often may not.
bool may_mount() {
  if (geteuid() != 0) return false;
  constexpr unsigned kSysAdmin = 21;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  return syscall(SYS_capget, &header, sets.data()) == 0 && (sets[0].effective >> kSysAdmin & 1) != 0;
}

void add_environment(CommandLine& line, const Job& job) {
  line.add({"--clearenv", "--setenv", "PATH", "/usr/local/cuda/bin:/usr/bin:/bin", "--setenv", "HOME", kWorkFolder,
            "--setenv", "TMPDIR", "/tmp", "--setenv", "LANG", "C.UTF-8"});
  for (const auto& [name, value] : job.environment) line.add({"--setenv", name, value});
}

Result<CommandLine> command_line(const Job& job, int gate, int info, int status) {
  CommandLine line;
  line.add({"/usr/bin/bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
            "--unshare-cgroup-try", "--uid", "1000", "--gid", "1000", "--hostname", "box", "--cap-drop", "ALL",
            "--die-with-parent", "--new-session"});
  add_system(line);
  line.add({"--size", std::to_string(job.limits.disk_bytes), "--tmpfs", "/tmp"});
  Status shown = add_readable(line, job, may_mount());
  if (!shown) return shown.error();
  add_environment(line, job);
  Result<int> filter = system_call_filter();
  if (!filter) return filter.error();
  line.opened.emplace_back(*filter);
  line.add({"--seccomp", std::to_string(*filter), "--block-fd", std::to_string(gate), "--info-fd", std::to_string(info),
            "--json-status-fd", std::to_string(status), "--dir", kWorkFolder, "--chdir", kWorkFolder, "--dir", kMade,
            "--remount-ro", "/", "--"});
  // Set inside the box, where it counts the box's processes. Set earlier, it would count all processes of this user.
  line.add({"/usr/bin/prlimit", fmt::format("--nproc={}", job.limits.processes + 2), "--"});
  line.words.insert(line.words.end(), job.command.begin(), job.command.end());
  return line;
}

// Limits of one process; sums over all processes are watched. The address space has no limit: a virtual GPU reserves
// terabytes.
void set_limits(rlim_t cpu_seconds) {
  const auto set = [](auto resource, rlim_t value) {
    const rlimit both{value, value};
    setrlimit(resource, &both);
  };
  set(RLIMIT_CPU, cpu_seconds);
  set(RLIMIT_CORE, 0);
  set(RLIMIT_NOFILE, 512);
  set(RLIMIT_MSGQUEUE, 0);
  set(RLIMIT_SIGPENDING, 1024);
  set(RLIMIT_MEMLOCK, 1 << 20);
  set(RLIMIT_NICE, 0);
  set(RLIMIT_RTPRIO, 0);
}

bool bind_reached(const std::vector<CommandLine::Reached>& reached) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  std::array<char, 32> source;
  std::array<int, 64> opened;  // before kReach is covered
  if (reached.size() > opened.size()) return false;
  for (std::size_t i = 0; i < reached.size(); ++i) opened[i] = open(reached[i].path.c_str(), O_PATH | O_CLOEXEC);
  if (mount("tmpfs", kReach, "tmpfs", 0, "mode=755") != 0) return false;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const char* place = reached[i].place.c_str();
    if (reached[i].folder ? mkdir(place, 0755) != 0 : mknod(place, S_IFREG | 0644, 0) != 0) return false;
    *fmt::format_to(source.data(), "/proc/self/fd/{}", opened[i]) = 0;
    if (mount(source.data(), place, nullptr, MS_BIND | MS_REC, nullptr) != 0) return false;
    close(opened[i]);
  }
  return true;
}

[[noreturn]] void give_up(const char* why) {
  if (write(1, why, std::strlen(why)) < 0) _exit(125);
  _exit(126);
}

// Runs in a forked child of a process that may have threads: only system calls, no allocation.
void prepare_child(const std::vector<CommandLine::Reached>& reached, rlim_t cpu_seconds) {
  if (!reached.empty() && !bind_reached(reached)) give_up("what the job may read cannot be bound for it");
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
                         setresuid(kNobody, kNobody, kNobody) != 0)) {
    give_up("root cannot become another user");
  }
  set_limits(cpu_seconds);
}

Result<Process> start(const CommandLine& line, int output, std::vector<int> kept, const Limits& limits) {
  ProcessCommand command{.words = line.words, .folder = "/", .no_environment = true};
  command.input = Stream::nothing();
  command.output = command.errors = Stream::open_file(output);
  command.kept = std::move(kept);  // the job must not have the caller's open files
  for (const Descriptor& opened : line.opened) command.kept.push_back(opened.get());
  command.death_signal = SIGKILL;
  command.resets_ignored = true;
  const auto cpu_seconds = static_cast<rlim_t>(limits.cpu_seconds) + 2;
  command.in_child = [&line, cpu_seconds] { prepare_child(line.reached, cpu_seconds); };
  return start_process(command);
}

std::string read_rest(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t got;
  while (text.size() < (1 << 16) && (got = read(descriptor, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), got);
  return text;
}

// Reads { "child-pid": 123, ... }, which bubblewrap writes when the first process exists.
pid_t first_process(int info) {
  pollfd waiting{info, POLLIN, 0};
  if (poll(&waiting, 1, kPatience) != 1) return -1;
  const std::string text = read_rest(info);
  const std::size_t at = text.find("\"child-pid\":");
  if (at == std::string::npos) return -1;
  const char* digits = text.c_str() + at + std::strlen("\"child-pid\":");
  while (*digits == ' ') ++digits;
  pid_t pid = -1;
  std::from_chars(digits, text.c_str() + text.size(), pid);
  return pid;
}

// Waits until the box's folders exist: they appear below the first process's root after bubblewrap has changed that
// root.
bool wait_until_made(const Box& box) {
  WG_ASSERT(box.first > 0 && box.first_alive.get() >= 0);
  const std::string made = fmt::format("/proc/{}/root{}", box.first, kMade);
  for (int waited = 0; waited < kPatience; ++waited) {
    struct stat about;
    // kMade is made last; after it, only the root becomes read-only. By then even root in the box cannot write there.
    if (stat(made.c_str(), &about) == 0) return true;
    pollfd ended{box.first_alive.get(), POLLIN, 0};
    if (poll(&ended, 1, 1) != 0) return false;
  }
  return false;
}

Error no_box(const std::string& said) {
  return {ErrorKind::environment, "sandbox: bubblewrap could not make the box", said};
}

Error no_box(const Box& box) {
  box.bubblewrap.send(SIGKILL);
  std::string said = read_rest(box.output.get());
  box.bubblewrap.wait();
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return no_box(said);
}

}  // namespace

Result<Box> make_box(const Job& job) {
  if (job.command.empty()) return Error{ErrorKind::bad_input, "sandbox: no command", ""};
  Pipe output, gate, info, status;
  for (Pipe* made : {&output, &gate, &info, &status})
    if (!made->open())
      return Error{ErrorKind::environment, fmt::format("sandbox: no pipe: {}", std::strerror(errno)), ""};
  Result<CommandLine> line = command_line(job, gate.read.get(), info.write.get(), status.write.get());
  if (!line) return line.error();
  const auto started =
      start(*line, output.write.get(), {gate.read.get(), info.write.get(), status.write.get()}, job.limits);
  if (!started) return no_box(started.error().message);
  Box box;
  box.bubblewrap = *started;
  box.owner = geteuid() == 0 ? static_cast<int>(kNobody) : -1;
  for (Descriptor* end : {&output.write, &gate.read, &info.write, &status.write}) end->reset();
  box.output = std::move(output.read);
  box.gate = std::move(gate.write);
  box.status = std::move(status.read);
  box.first = first_process(info.read.get());
  if (box.first <= 0) return no_box(box);
  box.first_alive.reset(static_cast<int>(syscall(SYS_pidfd_open, box.first, 0)));
  if (box.first_alive.get() < 0 || !wait_until_made(box)) return no_box(box);
  const std::string root = fmt::format("/proc/{}/root", box.first);
  box.processes.reset(open((root + "/proc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  box.disk.reset(open((root + "/tmp").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  box.work.reset(open((root + kWorkFolder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (box.processes.get() < 0 || box.disk.get() < 0 || box.work.get() < 0) return no_box(box);
  return box;
}

}  // namespace warpgrind::sandbox
