#include "toolchain/messages.h"

#include <fmt/format.h>
#include <fnmatch.h>

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

// A message is its line, the source shown below it, and its notes; "In file included from" leads it in.
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
constexpr Missing kMissing[] = {
#define WG_MISSING(pattern, advice) {pattern, advice},
#include "toolchain/hints.inc"
#undef WG_MISSING
};

struct NotFound {
  std::string name;  // empty: the line is about something else
  bool header = false;
};

// What a line of clang or of a linker (bfd, gold, lld) says is missing.
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

}  // namespace

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
