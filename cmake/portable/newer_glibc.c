// libwarpgrind_newer_glibc.so: what newer glibc has and 2.31 lacks. scripts/portable.py makes our programs and
// libraries need this one. The names have a version, so that it is never taken for another library's calls.
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

// glibc 2.33. Before, headers made them of __xstat() and its like. On x86-64 the kernel's structure is the C library's.
EXPORTED int stat(const char* path, struct stat* out) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, 0);
}
EXPORTED int lstat(const char* path, struct stat* out) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}
EXPORTED int fstat(int file, struct stat* out) {
  return (int)syscall(SYS_fstat, file, out);
}
EXPORTED int fstatat(int folder, const char* path, struct stat* out, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, out, flags);
}
EXPORTED int mknod(const char* path, mode_t mode, dev_t device) {
  return (int)syscall(SYS_mknod, path, mode, device);
}
EXPORTED int stat64(const char* path, struct stat64* out) {
  return stat(path, (struct stat*)out);
}
EXPORTED int lstat64(const char* path, struct stat64* out) {
  return lstat(path, (struct stat*)out);
}
EXPORTED int fstat64(int file, struct stat64* out) {
  return fstat(file, (struct stat*)out);
}

// glibc 2.33. The older one counts modulo 2^32.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
EXPORTED struct mallinfo2 mallinfo2(void) {
  const struct mallinfo old = mallinfo();
  return (struct mallinfo2){(unsigned)old.arena,   (unsigned)old.ordblks,  (unsigned)old.smblks,
                            (unsigned)old.hblks,   (unsigned)old.hblkhd,   (unsigned)old.usmblks,
                            (unsigned)old.fsmblks, (unsigned)old.uordblks, (unsigned)old.fordblks,
                            (unsigned)old.keepcost};
}

// glibc 2.32. False is right for any process.
EXPORTED char __libc_single_threaded = 0;

// glibc 2.36.
EXPORTED uint32_t arc4random(void) {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}

// Until glibc 2.33 a program brought the function that calls its constructors (__libc_csu_init). What is linked
// with 2.34 passes none, and expects __libc_start_main() to do it. Given one, both do as the older one did.
extern int old_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(int, char**, char**),
                          void (*fini)(void), void (*loader)(void), void* stack_end);
__asm__(".symver old_start_main, __libc_start_main@GLIBC_2.2.5");

static int first_object(struct dl_phdr_info* info, size_t size, void* out) {
  (void)size;
  *(struct dl_phdr_info*)out = *info;
  return 1;  // the program itself comes first
}

static void call_constructors(int argc, char** argv, char** environment) {
  typedef void (*Constructor)(int, char**, char**);
  struct dl_phdr_info program;
  if (!dl_iterate_phdr(first_object, &program)) return;
  const ElfW(Dyn)* entry = NULL;
  for (int i = 0; i < program.dlpi_phnum; ++i)
    if (program.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = (const ElfW(Dyn)*)(program.dlpi_addr + program.dlpi_phdr[i].p_vaddr);
  const Constructor* array = NULL;
  size_t bytes = 0;
  Constructor first = NULL;
  for (; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT) first = (Constructor)(program.dlpi_addr + entry->d_un.d_ptr);
    if (entry->d_tag == DT_INIT_ARRAY) array = (const Constructor*)(program.dlpi_addr + entry->d_un.d_ptr);
    if (entry->d_tag == DT_INIT_ARRAYSZ) bytes = entry->d_un.d_val;
  }
  if (first) first(argc, argv, environment);
  for (size_t i = 0; i < bytes / sizeof *array; ++i) array[i](argc, argv, environment);
}

EXPORTED int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv,
                               void (*init)(int, char**, char**), void (*fini)(void), void (*loader)(void),
                               void* stack_end) {
  return old_start_main(main, argc, argv, init ? init : call_constructors, fini, loader, stack_end);
}
