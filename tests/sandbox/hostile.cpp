// Programs that want out of a box, or to harm the machine from inside: hostile CASE OUTSIDE PARENT. OUTSIDE is a folder
// of the machine with a file "secret", PARENT the process that made the box. Says ESCAPED, and what, for all that must
// not work.
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string outside;
pid_t parent = 0;

void escaped(const char* what) {
  printf("ESCAPED: %s\n", what);
}

bool can_read(const std::string& path) {
  char byte;
  int file = open(path.c_str(), O_RDONLY);
  bool read_it = file >= 0 && read(file, &byte, 1) == 1;
  if (file >= 0) close(file);
  return read_it;
}

bool can_write(const std::string& path) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  if (file >= 0) close(file);
  return file >= 0;
}

// --- too much of something ---

void fork_bomb() {
  for (;;) fork();
}

void fork_bomb_in_sessions() {
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    if (fork() == 0) setsid();
  }
}

void vfork_and_exec() {
  for (;;) {
    if (fork() == 0) execl("/proc/self/exe", "hostile", "vfork_and_exec", "", "0", nullptr);
  }
}

void many_threads() {
  for (;;) {
    pthread_t thread;
    if (pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              pause();
              return nullptr;
            },
            nullptr) != 0)
      usleep(1000);
  }
}

// A megabyte that a compiler cannot do without.
void touch_more_memory() {
  void* block = malloc(1 << 20);
  if (block != nullptr) memset(block, 1, 1 << 20);
  asm volatile("" : : "r"(block) : "memory");
}

void memory() {
  for (;;) touch_more_memory();
}

// No process has much.
void memory_of_many() {
  for (int child = 0; child < 20; ++child) {
    if (fork() == 0) break;
  }
  for (int i = 0; i < 20; ++i) touch_more_memory();
  sleep(100);
}

void memory_file() {
  int file = memfd_create("x", 0);
  std::vector<char> block(1 << 20, 1);
  for (;;) {
    if (write(file, block.data(), block.size()) < 0) usleep(1000);
  }
}

void memory_files_allocated() {
  for (;;) {
    int file = memfd_create("x", 0);
    if (fallocate(file, 0, 0, 16 << 20) != 0) usleep(1000);
  }
}

void memory_shared() {
  for (;;) {
    void* block = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (block != MAP_FAILED) memset(block, 1, 1 << 20);
  }
}

void page_tables() {  // a page of each 2 MiB: as much page tables as pages
  const std::size_t size = std::size_t{64} << 30;
  char* block = static_cast<char*>(
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  for (;;) {
    if (block == MAP_FAILED) continue;
    for (std::size_t i = 0; i < size; i += 2 << 20) block[i] = 1;
  }
}

void system_v_memory() {
  int made = 0;
  while (made < 64 && shmget(IPC_PRIVATE, 16 << 20, IPC_CREAT | 0600) >= 0) ++made;
  if (made > 0) escaped("System V memory");
}

void stack_overflow() {
  volatile char frame[1 << 16];
  frame[0] = 1;
  stack_overflow();
  frame[1] = frame[0];
}

void endless_output() {
  for (;;) puts("all work and no play makes jack a dull boy");
}

void endless_errors() {
  char zeros[4096] = {};
  for (;;) {
    if (write(2, zeros, sizeof zeros) < 0) usleep(1000);
  }
}

void endless_loop() {
  for (;;) asm volatile("");
}

void sleeps_for_ever() {
  for (;;) pause();
}

void loops_in_children() {
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 8; ++i) {
    if (fork() == 0) endless_loop();
  }
  for (;;) pause();
}

// The kernel reaps such children itself and adds their time to no parent.
void unwaited_children() {
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    const pid_t child = fork();
    if (child == 0) {
      for (volatile int i = 0; i < 2'000'000; i = i + 1) {
      }
      _exit(0);
    }
    while (kill(child, 0) == 0) usleep(100);
  }
}

void deaf_to_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_IGN);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  for (;;) pause();
}

void daemonizes() {
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  for (;;) pause();
}

void closes_output_and_stays() {
  for (int i = 0; i < 3; ++i) close(i);
  for (;;) pause();
}

void fills_the_disk() {
  int file = open("big", O_WRONLY | O_CREAT, 0644);
  std::vector<char> block(1 << 20, 1);
  long written = 0;
  for (int i = 0; i < 64; ++i) {
    ssize_t now = write(file, block.data(), block.size());
    if (now > 0) written += now;
  }
  if (written > 16 << 20) escaped("more disk than allowed");
}

void fills_tmp() {
  int file = open("/tmp/big", O_WRONLY | O_CREAT, 0644);
  if (fallocate(file, 0, 0, 64 << 20) == 0) escaped("more disk than allowed");
}

void many_files() {
  for (int i = 0;; ++i) {
    int file = open(("f" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0644);
    if (file >= 0) close(file);
  }
}

void many_folders() {  // each in the one before
  for (;;) {
    if (mkdir("d", 0755) != 0 || chdir("d") != 0) usleep(1000);
  }
}

void sparse_file() {
  int file = open("sparse", O_WRONLY | O_CREAT, 0644);
  if (ftruncate(file, off_t{1} << 40) != 0) puts("refused");
}

void many_pipes() {
  for (int i = 0; i < 10000; ++i) {
    int ends[2];
    if (pipe(ends) != 0) return;
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    if (i > 1000) escaped("pipes without end");
  }
}

// --- files of others ---

void reads_outside() {
  for (const std::string& path :
       {outside + "/secret", std::string("/etc/passwd"), std::string("/etc/shadow"), std::string("/root/.bashrc"),
        std::string("/etc/hostname"), std::string("/sys/kernel/notes"), std::string("/dev/mem"),
        std::string("/dev/kmsg"), std::string("/dev/tty"), std::string("/dev/sda"), std::string("/dev/vda")}) {
    if (can_read(path)) escaped(path.c_str());
  }
}

void climbs_up() {
  std::string path = ".";
  for (int i = 0; i < 20; ++i) path += "/..";
  if (can_read(path + outside + "/secret")) escaped("by ..");
  int root = open("/", O_RDONLY | O_DIRECTORY);
  if (chroot(".") == 0) escaped("chroot");
  if (openat(root, ("../../../.." + outside + "/secret").c_str(), O_RDONLY) >= 0) escaped("by .. of a descriptor");
}

void links_out() {
  if (symlink((outside + "/secret").c_str(), "link") == 0 && can_read("link")) escaped("by a link");
  symlink(outside.c_str(), "folder");
  if (can_write("folder/made")) escaped("wrote by a link");
  symlink((outside + "/secret").c_str(), "result.json");  // for a reader outside that copies it
  if (link("/usr/bin/env", "hard") == 0) escaped("a hard link out of the box");
}

void writes_to_the_system() {
  for (const char* path : {"/usr/bin/x", "/usr/lib/x", "/etc/x", "/etc/ld.so.preload", "/x", "/dev/x", "/proc/x",
                           "/lib/x", "/usr/local/x"}) {
    if (can_write(path)) escaped(path);
  }
  if (chmod("/usr/bin/env", 0777) == 0) escaped("chmod");
  if (rename("/usr/bin/env", "/tmp/env") == 0) escaped("rename");
}

void proc_tricks() {
  for (const char* path : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
                           "/proc/self/oom_score_adj_", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/modprobe"}) {
    int file = open(path, O_WRONLY);
    if (file >= 0 && write(file, "x", 1) == 1) escaped(path);
  }
  for (const char* path : {"/proc/kcore", "/proc/kmsg"}) {
    if (can_read(path)) escaped(path);
  }
  if (can_read("/proc/1/root" + outside + "/secret")) escaped("/proc/1/root");
  if (can_read("/proc/self/root" + outside + "/secret")) escaped("/proc/self/root");
}

void sees_other_processes() {
  DIR* folder = opendir("/proc");
  int seen = 0;
  while (const dirent* entry = readdir(folder)) seen += atoi(entry->d_name) > 0 ? 1 : 0;
  if (seen > 4) escaped("processes of the machine");
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/environ", parent);
  if (parent > 10 && can_read(name)) escaped(name);
}

void inherited_files() {
  for (int number = 3; number < 1024; ++number) {
    if (fcntl(number, F_GETFD) >= 0) escaped("an open file of the creator of the box");
  }
}

void environment_of_others() {
  if (getenv("WARPGRIND_TEST_SECRET") != nullptr) escaped("environment");
}

// --- other processes ---

void signals_the_parent() {
  if (kill(parent, SIGTERM) == 0 && parent > 10) escaped("a signal to the parent");
  if (kill(getppid(), 0) == 0 && getppid() > 10) escaped("a signal to the parent");
  kill(-1, SIGKILL);
}

void kills_the_first() {
  kill(1, SIGKILL);
}

void traces() {
  if (ptrace(PTRACE_ATTACH, 1, nullptr, nullptr) == 0) escaped("ptrace of the first process");
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) escaped("ptrace");
}

void reads_memory_of_others() {
  char byte;
  iovec here{&byte, 1};
  iovec there{reinterpret_cast<void*>(0x400000), 1};
  if (process_vm_readv(1, &here, 1, &there, 1, 0) >= 0) escaped("process_vm_readv");
  int memory = open("/proc/1/mem", O_RDWR);
  if (memory >= 0 && pread(memory, &byte, 1, 0x400000) == 1) escaped("/proc/1/mem");
}

void raises_priority() {
  if (setpriority(PRIO_PROCESS, 0, -20) == 0) escaped("priority");
  sched_param parameters{50};
  if (sched_setscheduler(0, SCHED_FIFO, &parameters) == 0) escaped("real-time");
  rlimit more{RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_NOFILE, &more) == 0 || setrlimit(RLIMIT_NPROC, &more) == 0) escaped("limits");
}

// --- more rights ---

void becomes_root() {
  if (setuid(0) == 0 || setgid(0) == 0 || setreuid(0, 0) == 0) escaped("setuid");
  if (geteuid() == 0) escaped("root");
}

void runs_setuid_programs() {
  for (const char* program : {"/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/sudo"}) {
    if (access(program, X_OK) != 0) continue;
    pid_t child = fork();
    if (child == 0) {
      execl(program, program, "-c", "id -u", nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
  }
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) escaped("new privileges");
}

void new_namespaces() {
  if (unshare(CLONE_NEWUSER) == 0) escaped("a user namespace");
  if (unshare(CLONE_NEWNET) == 0) escaped("a net namespace");
  if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr) >= 0) escaped("clone");
  unsigned long arguments[11] = {CLONE_NEWUSER};
  if (syscall(435, arguments, sizeof arguments) >= 0 || errno != ENOSYS) escaped("clone3");
  int other = open("/proc/1/ns/user", O_RDONLY);
  if (other >= 0 && setns(other, 0) == 0) escaped("setns");
}

void mounts() {
  if (mount("none", "/tmp", "tmpfs", 0, "") == 0) escaped("mount");
  if (mount(nullptr, "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0) escaped("remount");
  if (umount2("/usr", MNT_DETACH) == 0) escaped("umount");
  if (syscall(430 /* fsopen */, "tmpfs", 0) >= 0) escaped("fsopen");
  if (syscall(428 /* open_tree */, AT_FDCWD, "/", 1) >= 0) escaped("open_tree");
}

void makes_devices() {
  if (mknod("disk", S_IFBLK | 0666, 8 << 8) == 0) escaped("a block device");
  if (mknod("memory", S_IFCHR | 0666, 1 << 8 | 1) == 0) escaped("a character device");
  int file = open("root", O_WRONLY | O_CREAT, 0755);
  if (fchmod(file, 04755) == 0) puts("a setuid file of one's own");
}

void kernel_calls() {
  const long calls[] = {
      SYS_bpf,          SYS_perf_event_open,   SYS_userfaultfd,    SYS_keyctl,      SYS_add_key,    SYS_kexec_load,
      SYS_init_module,  SYS_finit_module,      SYS_delete_module,  SYS_reboot,      SYS_swapon,     SYS_acct,
      SYS_syslog,       SYS_open_by_handle_at, SYS_io_uring_setup, SYS_personality, SYS_modify_ldt, SYS_iopl,
      SYS_settimeofday, SYS_sethostname,       SYS_quotactl};
  for (long call : calls) {
    errno = 0;
    if (syscall(call, 0, 0, 0, 0, 0, 0) >= 0 || errno != EPERM)
      escaped(("system call " + std::to_string(call)).c_str());
  }
  if (syscall(500, 0, 0, 0) >= 0 || errno != ENOSYS) escaped("a system call that is not known");
}

void calls_of_32_bits() {
  long result;
  asm volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");  // getpid by the other table of system calls
  escaped("a system call of 32 bits");
}

void calls_of_x32() {
  if (syscall(0x40000000 + SYS_getpid) > 0) escaped("a system call of x32");
}

void own_filter_off() {
  if (prctl(PR_SET_SECCOMP, 0, 0, 0, 0) == 0) escaped("seccomp off");
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2) escaped("no seccomp");
}

void types_into_the_terminal() {
  if (ioctl(0, TIOCSTI, "x") == 0 || ioctl(1, TIOCSTI, "x") == 0) escaped("TIOCSTI");
  if (open("/dev/tty", O_RDWR) >= 0 || open("/dev/ptmx", O_RDWR) >= 0) escaped("a terminal");
}

// --- the network ---

void network() {
  for (int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK, 40}) {
    if (socket(family, SOCK_STREAM, 0) >= 0 || socket(family, SOCK_RAW, 0) >= 0 || socket(family, SOCK_DGRAM, 0) >= 0)
      escaped("a socket");
  }
}

void unix_sockets() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) escaped("a pair of sockets");
  if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) escaped("a socket");  // abstract ones know no folders
}

void runs_other_programs() {
  if (system("cat /etc/passwd /etc/shadow 2>/dev/null | grep -q root") == 0) escaped("by a shell");
  if (system("ping -c1 127.0.0.1 >/dev/null 2>&1 || getent hosts example.org") == 0)
    escaped("the network by a program");
}

struct Case {
  const char* name;
  void (*run)();
};
#define CASE(name) \
  { #name, name }
constexpr Case kCases[] = {CASE(fork_bomb),
                           CASE(fork_bomb_in_sessions),
                           CASE(vfork_and_exec),
                           CASE(many_threads),
                           CASE(memory),
                           CASE(memory_of_many),
                           CASE(memory_file),
                           CASE(memory_files_allocated),
                           CASE(memory_shared),
                           CASE(page_tables),
                           CASE(system_v_memory),
                           CASE(stack_overflow),
                           CASE(endless_output),
                           CASE(endless_errors),
                           CASE(endless_loop),
                           CASE(sleeps_for_ever),
                           CASE(loops_in_children),
                           CASE(unwaited_children),
                           CASE(deaf_to_signals),
                           CASE(daemonizes),
                           CASE(closes_output_and_stays),
                           CASE(fills_the_disk),
                           CASE(fills_tmp),
                           CASE(many_files),
                           CASE(many_folders),
                           CASE(sparse_file),
                           CASE(many_pipes),
                           CASE(reads_outside),
                           CASE(climbs_up),
                           CASE(links_out),
                           CASE(writes_to_the_system),
                           CASE(proc_tricks),
                           CASE(sees_other_processes),
                           CASE(inherited_files),
                           CASE(environment_of_others),
                           CASE(signals_the_parent),
                           CASE(kills_the_first),
                           CASE(traces),
                           CASE(reads_memory_of_others),
                           CASE(raises_priority),
                           CASE(becomes_root),
                           CASE(runs_setuid_programs),
                           CASE(new_namespaces),
                           CASE(mounts),
                           CASE(makes_devices),
                           CASE(kernel_calls),
                           CASE(calls_of_32_bits),
                           CASE(calls_of_x32),
                           CASE(own_filter_off),
                           CASE(types_into_the_terminal),
                           CASE(network),
                           CASE(unix_sockets),
                           CASE(runs_other_programs)};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  outside = arguments[2];
  parent = atoi(arguments[3]);
  for (const Case& one : kCases) {
    if (strcmp(one.name, arguments[1]) != 0) continue;
    one.run();
    return 0;
  }
  return 2;
}
