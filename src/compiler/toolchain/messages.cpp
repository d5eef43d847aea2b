// Messages of clang and the linker: parsing, merging over two passes, and hints from the tables of hints.inc.
#include "toolchain/messages.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <vector>

namespace warpgrind::toolchain {

namespace {

bool contains(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return out;
}

std::string without_colours(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); i++) {
    if (line[i] == '\x1b') {
      while (i < line.size() && line[i] != 'm') i++;
    } else {
      out += line[i];
    }
  }
  return out;
}

bool begins_message(std::string_view line) {
  for (const char* word : {": error: ", ": warning: ", ": fatal error: ", ": remark: "})
    if (contains(line, word)) return true;
  return line.starts_with("error: ") || line.starts_with("warning: ");
}

namespace {

bool counts_messages(std::string_view line) {
  return contains(line, " generated when compiling for ") || line.ends_with(" generated.");
}

// A message is its line, the source line shown below it, and its notes. "In file included from" lines precede it.
std::vector<std::string> messages_of(std::string_view text) {
  std::vector<std::string> out;
  bool leading = false;
  for (const std::string_view line : lines_of(text)) {
    const std::string plain = without_colours(line);
    if (counts_messages(plain)) continue;
    const bool leads = plain.starts_with("In file included from ");
    const bool begins = begins_message(plain);
    if (out.empty() || ((leads || begins) && !leading)) out.emplace_back();
    leading = leads;
    out.back().append(line).append("\n");
  }
  return out;
}

struct Missing {
  const char *pattern, *advice;
};
struct Function {
  const char *pattern, *flag, *library;
};
#define WG_HEADER(name, option)
#define WG_FUNCTION(pattern, flag, library)
constexpr Missing kMissing[] = {
#define WG_MISSING(pattern, advice) {pattern, advice},
#include "toolchain/hints.inc"
#undef WG_MISSING
};
#undef WG_FUNCTION
#define WG_MISSING(pattern, advice)
constexpr Function kFunctions[] = {
#define WG_FUNCTION(pattern, flag, library) {pattern, flag, library},
#include "toolchain/hints.inc"
#undef WG_FUNCTION
};
#undef WG_MISSING
#undef WG_HEADER

struct NotFound {
  std::string name;  // empty: the line is about something else
  bool header = false;
};

// The header, library or other file that a line of clang or of a linker (bfd, gold, lld) reports as missing.
NotFound not_found(std::string_view line) {
  struct Phrase {
    std::string_view before, ends, after;
    bool header;
  };
  static constexpr Phrase kPhrases[] = {
      {"fatal error: '", "'", "' file not found", true},
      {"cannot find -l:", " :", "", false},
      {"cannot find -l", " :", "", false},
      {"unable to find library -l", " ", "", false},
  };
  for (const Phrase& phrase : kPhrases) {
    const size_t at = line.find(phrase.before);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + phrase.before.size());
    const std::string_view name = rest.substr(0, rest.find_first_of(phrase.ends));
    if (!name.empty() && rest.substr(name.size()).starts_with(phrase.after)) return {std::string(name), phrase.header};
  }
  return {};
}

// The function that a line of a linker reports as undefined; empty: the line reports something else.
std::string undefined_function(std::string_view line) {
  for (const std::string_view phrase : {"undefined reference to `", "undefined reference to '", "undefined symbol: "})
    if (const size_t at = line.find(phrase); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + phrase.size());
      return std::string(rest.substr(0, rest.find_first_of("'")));
    }
  return {};
}

// Null: in none of the known libraries.
const Function* known_function(const std::string& name) {
  for (const Function& function : kFunctions)
    if (!name.empty() && fnmatch(function.pattern, name.c_str(), 0) == 0) return &function;
  return nullptr;
}

}  // namespace

std::vector<std::string> missing_flags(std::string_view messages) {
  std::vector<std::string> out;
  for (const std::string_view line : lines_of(messages))
    if (const Function* function = known_function(undefined_function(without_colours(line))))
      if (std::find(out.begin(), out.end(), function->flag) == out.end()) out.emplace_back(function->flag);
  return out;
}

bool links_known_library(const std::string& option) {
  return std::any_of(std::begin(kFunctions), std::end(kFunctions),
                     [&](const Function& function) { return option == function.flag && option.starts_with("-l"); });
}

std::string merged_messages(std::string_view host, std::string_view device) {
  std::string out;
  std::set<std::string> said;
  for (const std::string_view text : {host, device})
    for (const std::string& message : messages_of(text))
      if (said.insert(without_colours(message)).second) out += message;
  return out;
}

std::vector<std::string> plain_lines(std::string_view messages) {
  std::vector<std::string> out;
  for (const std::string_view line : lines_of(messages)) out.push_back(without_colours(line));
  return out;
}

std::string hints_for(std::string_view messages) {
  std::string out;
  std::set<std::string> said;
  for (const std::string_view line : lines_of(messages)) {
    const std::string plain = without_colours(line);
    const std::string undefined = undefined_function(plain);
    if (const Function* function = known_function(undefined); function && said.insert(function->flag).second)
      out += fmt::format("  {} is a function of {}: compile with {}\n", undefined, function->library, function->flag);
    const NotFound found = not_found(plain);
    if (found.name.empty()) continue;
    for (const Missing& missing : kMissing) {
      if (fnmatch(missing.pattern, found.name.c_str(), 0) != 0) continue;
      const std::string shown = found.header ? found.name : "the library " + found.name;
      if (said.insert(found.name).second)
        out += fmt::format("  {}\n", fmt::format(fmt::runtime(missing.advice), shown));
      break;
    }
  }
  return out;
}

}  // namespace warpgrind::toolchain
