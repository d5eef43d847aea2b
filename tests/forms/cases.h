// The kernels of generate.py, their results and the reasons of forms without one. Plain C++17, used by the runner for
// the virtual GPU and by the one for a real GPU.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../hashed_results.h"

namespace forms {

using hashed_results::read_text;

constexpr std::size_t kRegion = 2048;      // bytes of memory that a form has
constexpr std::size_t kMemoryWords = 256;  // of inputs.bin: what each region holds at the start

struct Form {
  std::string mode, text;
  std::size_t slot = 0, slots = 0;
};

struct Kernel {
  std::string name, file;
  std::size_t blocks = 0, threads = 0, slots = 0;
  std::vector<Form> forms;
  std::size_t total() const { return blocks * threads; }
  std::size_t words() const { return slots * total(); }
  // wgmma has 128 threads, so twice the slots of a region.
  std::size_t memory_bytes() const { return (forms.size() + 2) * kRegion; }
};

inline std::vector<Kernel> read_kernels(const std::string& folder) {
  std::vector<Kernel> kernels;
  std::ifstream file(folder + "/cases.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "kernel") {
      kernels.emplace_back();
      Kernel& k = kernels.back();
      words >> k.name >> k.file >> k.blocks >> k.threads >> k.slots;
    } else if (kind == "form" && !kernels.empty()) {
      Form form;
      words >> form.mode >> form.slot >> form.slots;
      std::getline(words >> std::ws, form.text);
      kernels.back().forms.push_back(form);
    }
  }
  return kernels;
}

inline std::vector<std::uint64_t> read_inputs(const std::string& folder) {
  std::ifstream file(folder + "/inputs.bin", std::ios::binary);
  std::vector<std::uint64_t> words;
  for (std::uint64_t word = 0; file.read(reinterpret_cast<char*>(&word), sizeof word);) words.push_back(word);
  return words;
}

inline std::vector<std::uint64_t> memory_of(const Kernel& kernel, const std::vector<std::uint64_t>& inputs) {
  std::vector<std::uint64_t> words(kernel.memory_bytes() / 8);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = inputs[i % kMemoryWords];
  return words;
}

constexpr std::uint64_t kParameter = 0x8123456789abcdef;  // A

// FNV-1a of the form's slots.
inline std::uint32_t hash(const Kernel& kernel, const Form& form, const std::vector<std::uint64_t>& output) {
  hashed_results::Fnv fnv;
  for (std::size_t i = form.slot * kernel.total(); i < (form.slot + form.slots) * kernel.total(); ++i)
    fnv.add(output[i]);
  return fnv.value;
}

inline std::size_t mode_number(const std::string& mode) {
  const char* const modes[] = {"lanes", "guard", "not", "uniform", "affine"};
  std::size_t n = 0;
  while (n < 4 && mode != modes[n]) ++n;
  return n;
}

// The hash of each mode of a form; "-" for a mode that it does not have.
using Hashes = std::vector<std::string>;
using Results = std::map<std::string, Hashes>;

inline std::string hex(std::uint32_t word) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", word);
  return text;
}

inline void add_result(Results* results, const Form& form, const std::string& hash) {
  Hashes& hashes = (*results)[form.text];
  if (hashes.empty()) hashes.assign(5, "-");
  hashes[mode_number(form.mode)] = hash;
}

// Lines "lanes guard not uniform affine form"; others are comments.
inline Results read_results(const std::string& path) {
  Results results;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Hashes hashes(5);
    for (std::string& h : hashes) words >> h;
    std::string form;
    std::getline(words >> std::ws, form);
    results[form] = hashes;
  }
  return results;
}

inline void write_result(std::FILE* file, const std::string& form, const Hashes& hashes) {
  for (const std::string& h : hashes) std::fprintf(file, "%s ", h.c_str());
  std::fprintf(file, "%s\n", form.c_str());
}

}  // namespace forms
