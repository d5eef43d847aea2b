// Seccomp filter of a box, built with libseccomp.
#include "sandbox/system_calls.h"

#include <errno.h>
#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace warpgrind::sandbox {

namespace {

// Calls that fail with EPERM, so that a program that does not depend on them continues. They are listed by name. A call
// that this libseccomp does not know is refused below, as newer than known.
constexpr const char* kRefused[] = {
    // other processes, their memory and their files
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
    // namespaces and file systems
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at", "quotactl",
    "quotactl_fd", "swapon", "swapoff", "fanotify_init", "fanotify_mark", "mknod",
    // the kernel itself
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "kexec_load",
    "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module", "query_module",
    "get_kernel_syms", "keyctl", "add_key", "request_key", "lookup_dcookie", "nfsservctl", "acct", "reboot", "syslog",
    "iopl", "ioperm", "modify_ldt", "vm86", "vm86old", "uselib", "ustat", "sysfs", "_sysctl", "vhangup", "settimeofday",
    "stime", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "personality",
    "memfd_secret",
    // memory that is counted for no process
    "shmget", "shmat", "shmctl", "msgget", "msgsnd", "semget", "mq_open", "vmsplice", "splice", "tee",
    // placement of pages
    "mbind", "set_mempolicy", "set_mempolicy_home_node", "migrate_pages", "move_pages",
    // the network: a box has none, and a program's own sockets hold kernel memory
    "socket", "socketpair", "socketcall", "bind", "listen", "connect", "accept", "accept4"};

// All kinds of namespaces that clone() can create.
constexpr scmp_datum_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                        CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */;

// The first call number that this code does not know. Since 424, Linux gives new calls the same number on all
// architectures.
constexpr int kFirstUnknown = 463;

int add_rules(scmp_filter_ctx filter) {
  int failed = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  for (const char* name : kRefused) {
    int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR || number < 0) continue;  // not of this architecture
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
  }
  failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER));
  for (scmp_datum_t flag = 1; flag != 0 && flag <= kNewNamespaces; flag <<= 1) {
    if ((kNewNamespaces & flag) == 0 || flag == CLONE_NEWUSER) continue;
    failed |=
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
  }
  // clone3's flags are in memory, which a filter cannot read; the C library then uses clone().
  failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  // Requests that type into the terminal from which warpgrind was started.
  for (scmp_datum_t request : {scmp_datum_t{TIOCSTI}, scmp_datum_t{TIOCLINUX}}) {
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                               SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, request));
  }
  for (int number = kFirstUnknown; number < 512; ++number) {
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0);
  }
  return failed;
}

}  // namespace

Result<int> system_call_filter() {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return Error{ErrorKind::environment, "seccomp: no memory for the filter", ""};
  int failed = add_rules(filter);
  int file = failed == 0 ? memfd_create("seccomp", MFD_CLOEXEC) : -1;
  if (file >= 0 && (seccomp_export_bpf(filter, file) != 0 || lseek(file, 0, SEEK_SET) != 0)) {
    close(file);
    file = -1;
  }
  seccomp_release(filter);
  if (file < 0)
    return Error{ErrorKind::environment, "seccomp: the filter of system calls cannot be made", std::strerror(-failed)};
  return file;
}

}  // namespace warpgrind::sandbox
