// Conversion of a profile to versioned JSON and back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "results/profile.h"

namespace warpgrind::results {

// Contents of the file: profile_members.h, docs/profile-format.md.
std::string to_json(const Profile& profile);

// Reads the output of to_json, of this or an earlier format version. `name` is the file's name, for error messages.
Result<Profile> from_json(std::string_view text, std::string_view name);

// The same from a file.
Result<Profile> read_profile(const std::string& path);

}  // namespace warpgrind::results
