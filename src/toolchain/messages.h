// What clang and the linker said: the messages of the two passes of a source as one, and what to do about a part that
// is missing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::toolchain {

std::vector<std::string_view> lines_of(std::string_view text);
std::string without_colours(std::string_view line);
bool begins_message(std::string_view line);  // of an error, a warning or a remark; a note belongs to the one before it

// Both passes see all of a source, so most messages come twice. All of the host pass's, then what only the device pass
// has. Lines that count them ("2 errors generated when compiling for host.") go.
std::string merged_messages(std::string_view host, std::string_view device);

// A line for each header, library or function that was not found and is in the tables (hints.inc); empty: nothing to
// say.
std::string hints_for(std::string_view messages);
// The options that a program lacks whose functions the linker did not find: "-lcublas".
std::vector<std::string> missing_flags(std::string_view messages);
// Whether this option links a library of those tables: "-lcublas".
bool links_known_library(const std::string& option);

// Its lines without the colours of a terminal.
std::vector<std::string> plain_lines(std::string_view messages);

}  // namespace warpgrind::toolchain
