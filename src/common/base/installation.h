// Paths of warpgrind's own files. A build has them beside the executable (bin/../lib, bin/../lab, bin/../toolkit), an
// installation in bin/../lib/warpgrind.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/parts.h"
#include "base/result.h"

namespace warpgrind {

std::string own_executable();
PartFolders own_parts();  // of the installation or build of this executable
// The error names every missing part of these kinds (base/parts.inc).
Status check_parts(const PartFolders& folders, std::initializer_list<NeededBy> kinds);
Status check_parts_to_compile_and_run();  // of own_parts()
Error missing_parts(const std::vector<const Part*>& missing, const PartFolders& folders);
// The command a user in the current folder types for this executable: its name if PATH finds it, else its path.
std::string typed_executable();
Result<std::string> runtime_library();  // our libcudart.so.13
// A library beside the one that contains this code, or in the folder of this executable's libraries.
Result<std::string> library_of_ours(const std::string& name);
std::string lab_folder();        // programs of the lab; may not exist
std::string exercises_folder();  // likewise
// The toolkit that compiles CUDA programs, laid out as NVIDIA's: bin/nvcc, include, lib64.
std::string toolkit_folder();

// Makes programs that this process starts find our CUDA runtime before any other, through LD_LIBRARY_PATH. Programs
// built by clang, and by nvcc with a shared runtime, name libcudart.so.13 without its folder.
void put_first_in_library_path(const std::string& library);
// The same for one program: the variable as NAME=VALUE.
std::string library_path_with(const std::string& library);

// Put `value` before or after the variable's old value, separated by ':'.
void prepend_to_environment(const char* variable, const std::string& value);
void append_to_environment(const char* variable, const std::string& value);

}  // namespace warpgrind
