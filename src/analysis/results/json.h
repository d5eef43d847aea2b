// A profile as versioned JSON, and back.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "results/profile.h"

namespace warpgrind::results {

// What the file has: profile_members.h, docs/profile-format.md.
std::string to_json(const Profile& profile);

// Reads what to_json wrote, of this or an earlier format version. `name` is the file's name, for the message.
Result<Profile> from_json(std::string_view text, std::string_view name);

// The same from a file.
Result<Profile> read_profile(const std::string& path);

// Writes text to a file, or to standard output when the name is "-".
Status write_file(const std::string& path, std::string_view text);

}  // namespace warpgrind::results
