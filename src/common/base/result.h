// Result of a step that can fail. src/ uses no exceptions: the JIT's machine code cannot be unwound, and Debian's LLVM
// is built without them.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace warpgrind {

// Kinds of docs/ARCHITECTURE.md, "Errors". Our own bugs are WG_ASSERT failures and never an Error.
enum class ErrorKind {
  bad_input,    // wrong file, argument or program text of the user: the message gives place and remedy
  unsupported,  // valid input that this version cannot handle; the message names the feature
  environment,  // a missing tool, a full disk, no memory
};

// `message` is one line that a user can act on. `detail` may hold more lines (a caret under the source line, a hint).
struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  std::string message;
  std::string detail;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() {
    WG_ASSERT(ok());
    return std::get<T>(state_);
  }
  const T& value() const {
    WG_ASSERT(ok());
    return std::get<T>(state_);
  }
  T take() {
    WG_ASSERT(ok());
    return std::move(std::get<T>(state_));
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    WG_ASSERT(!ok());
    return std::get<Error>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

struct Ok {};
using Status = Result<Ok>;

}  // namespace warpgrind
