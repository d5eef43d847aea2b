// Translation of NVVM IR to LLVM's IR for NVPTX: other names for intrinsics, and a module that defines them.
#include "nvvm/dialect.h"

#include <cctype>
#include <string_view>

namespace warpgrind::nvvm {

namespace {

// Intrinsics with the mode as an argument, or with a pair as result. LLVM has one intrinsic for each mode and for each
// half of the result. ("Warp-level Intrinsics" of the specification.)
constexpr std::string_view kIntrinsics[] = {"shfl.sync.i32", "vote.sync", "match.all.sync.i32", "match.all.sync.i64"};
constexpr std::string_view kTheirs = "llvm.nvvm.";
constexpr std::string_view kOurs = "warpgrind.nvvm.";

bool ends_a_name(const std::string& text, std::size_t at) {
  return at >= text.size() || text[at] == '"' || text[at] == '(' || std::isspace(static_cast<unsigned char>(text[at]));
}

void rename(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
    if (ends_a_name(text, at + from.size())) text.replace(at, from.size(), to);
}

void rename_intrinsics(std::string& text, const Options& options) {
  for (const std::string_view one : kIntrinsics)
    rename(text, std::string(kTheirs).append(one), std::string(kOurs).append(one));
  // The device library rounds its square root correctly whatever -prec-sqrt is.
  if (!options.exact_sqrt) rename(text, "__nv_sqrtf", "warpgrind.nvvm.sqrtf");
}

// Sets the debug kind of the compilation units: clang follows the unit, not its own options. -generate-line-info needs
// .loc but no debug sections.
void set_debug_kind(std::string& text, const Options& options) {
  if (options.debug) return;
  constexpr std::string_view kFull = "emissionKind: FullDebug";
  const std::string_view kind = options.line_info ? "emissionKind: DebugDirectivesOnly" : "emissionKind: NoDebug";
  for (std::size_t at = text.find(kFull); at != std::string::npos; at = text.find(kFull, at + 1))
    text.replace(at, kFull.size(), kind);
}

// The mode is a constant at every call, so only one of these calls remains.
constexpr std::string_view kModule = R"(
target triple = "nvptx64-nvidia-cuda"

declare { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32, i32, i32, i32)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i1 @llvm.nvvm.vote.uni.sync(i32, i1)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32, i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32, i64)

define linkonce_odr { i32, i1 } @warpgrind.nvvm.shfl.sync.i32(i32 %members, i32 %mode, i32 %value, i32 %lane, i32 %clamp) #0 {
  switch i32 %mode, label %bfly [ i32 0, label %idx i32 1, label %up i32 2, label %down ]
idx:
  %1 = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 %members, i32 %value, i32 %lane, i32 %clamp)
  ret { i32, i1 } %1
up:
  %2 = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 %members, i32 %value, i32 %lane, i32 %clamp)
  ret { i32, i1 } %2
down:
  %3 = call { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32 %members, i32 %value, i32 %lane, i32 %clamp)
  ret { i32, i1 } %3
bfly:
  %4 = call { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32 %members, i32 %value, i32 %lane, i32 %clamp)
  ret { i32, i1 } %4
}

define linkonce_odr { i32, i1 } @warpgrind.nvvm.vote.sync(i32 %members, i32 %mode, i1 %predicate) #0 {
  switch i32 %mode, label %ballot [ i32 0, label %all i32 1, label %any i32 2, label %uni ]
all:
  %1 = call i1 @llvm.nvvm.vote.all.sync(i32 %members, i1 %predicate)
  %2 = insertvalue { i32, i1 } { i32 0, i1 undef }, i1 %1, 1
  ret { i32, i1 } %2
any:
  %3 = call i1 @llvm.nvvm.vote.any.sync(i32 %members, i1 %predicate)
  %4 = insertvalue { i32, i1 } { i32 0, i1 undef }, i1 %3, 1
  ret { i32, i1 } %4
uni:
  %5 = call i1 @llvm.nvvm.vote.uni.sync(i32 %members, i1 %predicate)
  %6 = insertvalue { i32, i1 } { i32 0, i1 undef }, i1 %5, 1
  ret { i32, i1 } %6
ballot:
  %7 = call i32 @llvm.nvvm.vote.ballot.sync(i32 %members, i1 %predicate)
  %8 = insertvalue { i32, i1 } { i32 undef, i1 false }, i32 %7, 0
  ret { i32, i1 } %8
}

define linkonce_odr { i32, i1 } @warpgrind.nvvm.match.all.sync.i32(i32 %members, i32 %value) #0 {
  %1 = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 %members, i32 %value)
  ret { i32, i1 } %1
}

define linkonce_odr { i32, i1 } @warpgrind.nvvm.match.all.sync.i64(i32 %members, i64 %value) #0 {
  %1 = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 %members, i64 %value)
  ret { i32, i1 } %1
}

attributes #0 = { alwaysinline convergent nounwind }
)";

}  // namespace

std::string without_dialect(std::string text, const Options& options) {
  rename_intrinsics(text, options);
  set_debug_kind(text, options);
  return text;
}

std::string dialect_module(const Options& options) {
  std::string out(kModule);
  if (!options.exact_sqrt) {
    const std::string root = options.flush_to_zero ? "@llvm.nvvm.sqrt.approx.ftz.f" : "@llvm.nvvm.sqrt.approx.f";
    out += "declare float " + root + "(float)\n" + R"(
define linkonce_odr float @warpgrind.nvvm.sqrtf(float %x) #0 {
  %1 = call float )" +
           root + R"((float %x)
  ret float %1
}
)";
  }
  // The value that libdevice reads through __nvvm_reflect.
  if (options.flush_to_zero) out += "!llvm.module.flags = !{!0}\n!0 = !{i32 4, !\"nvvm-reflect-ftz\", i32 1}\n";
  return out;
}

}  // namespace warpgrind::nvvm
