// The tests that hold the result of each opcode. They are found in what the tests run or have recorded, so the list
// cannot go stale. A form counts if each of its modifiers exists; text that is only parsed does not count.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/opcode.h"
#include "ptx/types.h"
#include "read_file.h"

namespace warpgrind::ptx {

// Files whose instructions are executed and whose results are compared.
struct Evidence {
  const char* path;       // in tests/: a file, or a folder and the beginning of a file's name
  const char* held_by;    // origin of the expected results
  const char* extension;  // of the files, if `path` begins their names
};

inline constexpr std::array kEvidence{
    Evidence{"forms/results.txt", "H200", ""},
    Evidence{"hardware/expected.txt", "H200", ""},
    Evidence{"hardware/tensor_cores.expected", "H200", ""},
    Evidence{"hardware/generate.py", "H200", ""},
    Evidence{"tensor_copies/kernels.py", "H200", ""},
    Evidence{"data/outcomes/", "manual", ".ptx"},
    Evidence{"data/device/", "host loops", ".ptx"},
    Evidence{"unit/device_", "host loops", ".cpp"},
    Evidence{"unit/device_", "host loops", ".h"},
};

inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':';
}

// Returns the number of characters of `word` that are an opcode with existing modifiers, and the opcode; 0 if it is no
// opcode or has a part that PTX does not have.
inline std::size_t read_form(std::string_view word, Opcode& opcode) {
  std::size_t end = word.size();
  std::optional<Opcode> found;
  for (;; end = word.find_last_of(".:", end - 1)) {
    while (end && (word[end - 1] == '.' || word[end - 1] == ':')) --end;
    if (!end) return 0;
    if ((found = opcode_from_text(word.substr(0, end)))) break;
    if (word.find_last_of(".:", end - 1) == std::string_view::npos) return 0;
  }
  opcode = *found;
  std::string_view rest = word.substr(end);
  if (rest.starts_with("::")) rest.remove_prefix(std::min(rest.find('.'), rest.size()));  // tcgen05.wait::ld
  if (rest.starts_with(".")) rest.remove_prefix(1);
  while (!rest.empty()) {
    const std::size_t next = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, next);
    const bool qualified = part.find("::") != std::string_view::npos;
    const bool vector = part == "v2" || part == "v4" || part == "v8";
    if (!part.empty() && !qualified && !vector && !modifier_from_text(part) && !scalar_type_from_name(part)) return 0;
    rest.remove_prefix(std::min(next + 1, rest.size()));
  }
  return end;
}

// Adds the opcodes of the forms in `text`. A bare opcode counts as an instruction if an operand or a semicolon follows.
inline void read_forms(std::string_view text, std::set<Opcode>& opcodes) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const char before = at ? text[at - 1] : ' ';
    Opcode opcode{};
    const std::size_t length = before == '%' || before == '$' ? 0 : read_form(word, opcode);
    const std::string_view after = text.substr(end, 2);
    const bool operand = after.size() == 2 && after[0] == ' ' &&
                         std::string_view("%[$0123456789").find(after[1]) != std::string_view::npos;
    const bool statement = operand || after.starts_with(';');
    if (length && (length < word.size() || statement)) opcodes.insert(opcode);
    at = end;
  }
}

// Returns the text without comments of the kind of `path`'s language.
inline std::string read_code(const std::filesystem::path& path) {
  const std::string_view comment = path.extension() == ".py" || path.extension() == ".txt" ? "#" : "//";
  std::istringstream lines(read_file(path));
  std::string out;
  for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find(comment)) + "\n";
  return out;
}

// Of a file of tests/data/outcomes only the kernels with a line "// expect: KERNEL gives: VALUE".
inline std::string read_kernels_with_values(const std::filesystem::path& path) {
  std::istringstream lines(read_file(path));
  std::set<std::string> kernels;
  std::string out;
  bool counts = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string slashes, expect, kernel, what;
    if (words >> slashes >> expect >> kernel >> what && expect == "expect:" && what == "gives:") kernels.insert(kernel);
    if (const std::size_t entry = line.find(".entry "); entry != std::string::npos) {
      const std::size_t first = entry + 7;
      counts = kernels.contains(line.substr(first, line.find_first_of("( ", first) - first));
    }
    // Functions outside kernels may be called by one that has a value.
    if (line.find(".func ") != std::string::npos) counts = true;
    if (counts) out += line.substr(0, line.find("//")) + "\n";
  }
  return out;
}

// For each opcode, by origin of the expected results: the files that execute it.
using OpcodeEvidence = std::map<Opcode, std::map<std::string, std::set<std::string>>>;

inline OpcodeEvidence find_evidence(const std::filesystem::path& tests) {
  OpcodeEvidence out;
  for (const Evidence& e : kEvidence) {
    const std::filesystem::path path = tests / e.path;
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_regular_file(path)) {
      files.push_back(path);
    } else {
      for (const auto& file : std::filesystem::directory_iterator(path.parent_path()))
        if (file.path().extension() == e.extension && file.path().string().starts_with(path.string()))
          files.push_back(file.path());
    }
    for (const auto& file : files) {
      std::set<Opcode> opcodes;
      const bool outcomes = std::string_view(e.path) == "data/outcomes/";
      read_forms(outcomes ? read_kernels_with_values(file) : read_code(file), opcodes);
      for (const Opcode opcode : opcodes) out[opcode][e.held_by].insert(file.lexically_relative(tests).string());
    }
  }
  return out;
}

// "H200: forms/results.txt; manual: data/outcomes/images.ptx". The first two files of each origin, and how many more.
inline std::string evidence_text(const std::map<std::string, std::set<std::string>>& evidence) {
  std::string out;
  for (const auto& [held_by, files] : evidence) {
    out += (out.empty() ? "" : "; ") + held_by + ": ";
    std::size_t shown = 0;
    for (const std::string& file : files) {
      if (shown == 2) {
        out += " and " + std::to_string(files.size() - shown) + " more";
        break;
      }
      out += (shown++ ? ", " : "") + file;
    }
  }
  return out;
}

}  // namespace warpgrind::ptx
