// Where the files of warpgrind lie: beside the executable in a build (bin/../lib, bin/../lab, bin/../toolkit) and in an
// installation (bin/../lib/warpgrind).
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/parts.h"
#include "base/result.h"

namespace warpgrind {

std::string own_executable();
PartFolders own_parts();  // of the installation that this executable belongs to
// An error that names every part of these kinds that is not there (base/parts.inc).
Status check_parts(const PartFolders& folders, std::initializer_list<NeededBy> kinds);
Status check_parts_to_compile_and_run();  // of own_parts()
Error missing_parts(const std::vector<const Part*>& missing, const PartFolders& folders);
// How a user in this folder calls that file: by its name where PATH finds it, else by its path from here.
std::string typed_executable();
Result<std::string> runtime_library();  // our libcudart.so.13
// A library that lies beside the one that this code is in, or where the libraries of this executable lie.
Result<std::string> library_of_ours(const std::string& name);
std::string lab_folder();        // the programs of the lab; may not exist
std::string exercises_folder();  // likewise
// What CUDA programs are compiled with, laid out as NVIDIA's toolkit: bin/nvcc, include, lib64.
std::string toolkit_folder();

// Programs that this process starts from now on find our CUDA runtime before any other: those that clang builds, and
// nvcc's with a shared runtime, name libcudart.so.13 and not where it lies.
void put_first_in_library_path(const std::string& library);

// In front of what the variable has, or behind it; separated by ':'.
void prepend_to_environment(const char* variable, const std::string& value);
void append_to_environment(const char* variable, const std::string& value);

}  // namespace warpgrind
