// Messages of clang and the linker: merging those of a source's two passes, and hints about missing parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::toolchain {

std::vector<std::string_view> lines_of(std::string_view text);
std::string without_colours(std::string_view line);
bool begins_message(std::string_view line);  // an error, a warning or a remark; a note belongs to the message before it

// All messages of the host pass, then those that only the device pass has: both passes see the whole source, so most
// messages come twice. Lines that count messages ("2 errors generated when compiling for host.") are removed.
std::string merged_messages(std::string_view host, std::string_view device);

// One line for each header, library or function that was not found and is in the tables (hints.inc). Empty: no hint.
std::string hints_for(std::string_view messages);
// The options whose libraries define functions that the linker did not find: "-lcublas".
std::vector<std::string> missing_flags(std::string_view messages);
// Whether this option links a library of those tables: "-lcublas".
bool links_known_library(const std::string& option);

// The lines without terminal colours.
std::vector<std::string> plain_lines(std::string_view messages);

}  // namespace warpgrind::toolchain
