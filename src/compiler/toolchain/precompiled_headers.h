// Precompiled headers: what clang makes of the headers before a CUDA source, kept in a folder. Reading wrapper.h is
// nine tenths of the compilation of a small program, and Thrust is two thirds of that of a program with Thrust.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/children.h"
#include "toolchain/toolkit.h"

namespace warpgrind::toolchain {

// The headers that can stand before a source in precompiled form. wrapper.h always does.
enum class HeaderBase : std::uint8_t { wrapper, thrust, cub, thrust_and_cub };
inline constexpr HeaderBase kHeaderBases[] = {HeaderBase::wrapper, HeaderBase::thrust, HeaderBase::cub,
                                              HeaderBase::thrust_and_cub};
std::string_view name_of(HeaderBase base);  // "thrust/device_vector.h"

// The largest base that can stand before this source without a change of its meaning. The source includes the base's
// headers among its first lines, behind nothing but headers of the C++ library, Thrust, CUB and CUDA.
HeaderBase base_for(std::string_view source);

// Folders with precompiled headers. An entry belongs to one version of clang and to one list of options. It counts as
// missing once a header in it has another size or time.
class PrecompiledHeaders {
 public:
  struct Folders {
    std::string own;        // the user's, where entries are made; empty: none are made
    std::string installed;  // `warpgrind prepare` fills it; it is only read here
  };
  struct Pass {
    Words flags;      // of clang, without the source and the output
    Words variables;  // of clang's environment, NAME=VALUE
    HeaderBase base = HeaderBase::wrapper;
  };
  // A precompiled header that is not there yet. It is made by `command` and kept by keep().
  struct Making {
    Words command;
    std::string entry;  // path without its ending
    std::string fresh;  // output of the command
    std::string rules;  // make rules with the headers that were read
    std::string messages;
  };

  PrecompiledHeaders() = default;
  PrecompiledHeaders(const Toolkit& toolkit, Folders folders) : clang_(toolkit.clang), folders_(std::move(folders)) {}

  bool enabled() const { return !folders_.own.empty() || !folders_.installed.empty(); }
  // The file to pass to -include-pch. A damaged one is removed, and reported once.
  std::optional<std::string> find(const Pass& pass) const;
  // Notes that the pass lacked one. True if it lacked one before. Making one costs a third more than doing without,
  // so it is worth it from the second time on.
  bool lacked_before(const Pass& pass) const;
  // How to make it. nullopt: the folder cannot be written, or what was made earlier could not be used.
  std::optional<Making> make(const Pass& pass, const std::string& folder) const;
  // Keeps what the command made; `good`: it ended with exit code 0. Returns the file to pass to -include-pch. Headers
  // that print warnings are not kept, because every compilation should print them.
  std::optional<std::string> keep(const Making& making, bool good) const;
  // A pass failed with the file, which find() gave, and not without: it is not used again.
  void refuse(const std::string& file) const;
  // Removes the entries used least recently, down to three quarters of the limit (bytes).
  void evict(std::uint64_t limit = 256ull << 20) const;

  // Removes the header that only holds the text of a base from the dependencies of a source, and puts the source first.
  static void tidy(std::vector<std::string>& dependencies, const std::string& source);

 private:
  std::string name(const Pass& pass) const;

  std::string clang_;
  Folders folders_;
};

}  // namespace warpgrind::toolchain
