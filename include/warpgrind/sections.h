/* Sections of a run: the profile of a part of a program, while the program runs. For test frameworks, notebooks and
 * other programs that need the counts of a part of their work.
 *
 * A section begins when the process starts, and at each warpgrind_begin_section(). There is one at a time for the whole
 * process. The functions are in the library that `warpgrind run` and `warpgrind check` preload into each process.
 * Declared weak, so that a program can also run without warpgrind:
 *
 *   if (warpgrind_begin_section && warpgrind_begin_section() == 0) {
 *     work();
 *     char* json = warpgrind_section_profile();
 *     ...
 *     warpgrind_free(json);
 *   }
 *
 * Other languages look the names up (dlsym; Python: ctypes.CDLL(None).warpgrind_begin_section). Thread-safe. */
#ifndef WARPGRIND_SECTIONS_H
#define WARPGRIND_SECTIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Waits for the work that the process has issued to the GPU, and begins a new section. 0: done. -1: impossible: the run
 * has ended, the process is a forked child of one that had used CUDA, or the call is in a host function of a stream.
 * After a kernel fault, all GPUs work again, with their memory as it is: a fault concerns only its section. On a real
 * GPU, later calls of the process would fail, too. */
__attribute__((weak)) int warpgrind_begin_section(void);

/* Waits for the issued work, and returns the profile of the section until now as JSON (docs/profile-format.md), which
 * ends with a zero byte. `kernels`, `transfers`, `library_calls`, `findings` and `activity` are those of the section;
 * it has no timeline and no data of --detail. Findings of `warpgrind check` are there as soon as this returns, except
 * for leaks, unused memory and other orders of --schedules: those concern the whole run. Work that waits for the host,
 * and so does not end, is left out. Release the text by warpgrind_free(). NULL: the process has not called CUDA yet,
 * the reasons of warpgrind_begin_section(), or no memory. */
__attribute__((weak)) char* warpgrind_section_profile(void);

/* Accepts NULL. */
__attribute__((weak)) void warpgrind_free(void* text);

#ifdef __cplusplus
}
#endif

#endif
