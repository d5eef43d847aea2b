// Environment variables that `warpgrind run` sets for the processes of a run, about NVIDIA's compilers and libraries
// (cli/tools_of_run.h, cli/nvrtc_choice.h, cli/debug_program.h). Also the command word by which such a process calls
// warpgrind.
#pragma once

namespace warpgrind::run_variables {

inline constexpr const char* kExecutable = "WARPGRIND_EXECUTABLE";     // path of warpgrind
inline constexpr const char* kToolStays = "WARPGRIND_TOOL_STAYS";      // pid of the process that keeps its own tool
inline constexpr const char* kNvidiaPtxas = "WARPGRIND_NVIDIA_PTXAS";  // set: ptxas calls run NVIDIA's
inline constexpr const char* kNvidiaNvrtc = "WARPGRIND_NVIDIA_NVRTC";  // folder of the libnvrtc that compiles
inline constexpr const char* kOwnNvrtc = "WARPGRIND_OWN_NVRTC";  // set: our NVRTC compiles, even if NVIDIA's exists
inline constexpr const char* kNvidiaJitLink = "WARPGRIND_NVIDIA_JITLINK";  // folder of the nvJitLink that reads LTO IR
inline constexpr const char* kDebugSources = "WARPGRIND_DEBUG_SOURCES";    // debugger only: folder for NVRTC's sources
inline constexpr const char* kStatusFolder = "WARPGRIND_STATUS_FOLDER";    // a file problem.NAME in it: incomplete run

inline constexpr const char* kToolOfRun = "tool-of-run";  // warpgrind tool-of-run nvcc|ptxas FILE ARGUMENTS...

inline constexpr const char* kPlayCore = "play-core";  // warpgrind play-core FILE, for `warpgrind debug --core FILE`
inline constexpr const char* kCoreStarts = "WARPGRIND_CORE_STARTS";  // how often that process has started again

}  // namespace warpgrind::run_variables
