// What `warpgrind run` tells the processes of a run about NVIDIA's compilers and libraries, by variables
// (cli/tools_of_run.h, cli/nvrtc_choice.h), and the word by which a process of a run calls it back.
#pragma once

namespace warpgrind::run_variables {

inline constexpr const char* kExecutable = "WARPGRIND_EXECUTABLE";         // the file of warpgrind
inline constexpr const char* kToolStays = "WARPGRIND_TOOL_STAYS";          // the process that is to stay what it is
inline constexpr const char* kNvidiaPtxas = "WARPGRIND_NVIDIA_PTXAS";      // set: a ptxas is to be NVIDIA's
inline constexpr const char* kNvidiaNvrtc = "WARPGRIND_NVIDIA_NVRTC";      // the folder of the one that compiles
inline constexpr const char* kOwnNvrtc = "WARPGRIND_OWN_NVRTC";            // set: ours compiles, whatever there is
inline constexpr const char* kNvidiaJitLink = "WARPGRIND_NVIDIA_JITLINK";  // the folder of the one that reads LTO IR
inline constexpr const char* kStatusFolder = "WARPGRIND_STATUS_FOLDER";  // a file problem.NAME: the run is not complete

inline constexpr const char* kToolOfRun = "tool-of-run";  // warpgrind tool-of-run nvcc|ptxas FILE ARGUMENTS...

}  // namespace warpgrind::run_variables
