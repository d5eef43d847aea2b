// A profile as versioned JSON, and back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "results/profile.h"

namespace warpgrind::results {

// {"format": 1, "program", "gpu", "command", "not_modelled": [], "kernels": [{"name", "mangled_name", "launches",
// "grid": [x, y, z], "block": [x, y, z], "metrics": {NAME: {"value", "unit", "origin"}}, "sites": [...]}], "launches":
// [...], "transfers": [...], "library_calls": [...], "findings": [...]}. A metric that is a word has it as its value.
std::string to_json(const Profile& profile);

// Reads what to_json wrote, of this or an earlier format version. `name` is the file's name, for the message.
Result<Profile> from_json(std::string_view text, std::string_view name);

// The same from a file.
Result<Profile> read_profile(const std::string& path);

// Writes text to a file, or to standard output when the name is "-".
Status write_file(const std::string& path, std::string_view text);

}  // namespace warpgrind::results
