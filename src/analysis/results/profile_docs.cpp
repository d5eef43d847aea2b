// Visitors of the member tables that write Markdown and TypeScript.
#include "results/profile_docs.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "results/member_json.h"
#include "results/profile_members.h"

namespace warpgrind::results {
namespace {

// ---- Objects of the file, with their names in the page.

struct Object {
  std::string_view name, what;
};
template <class T>
inline constexpr Object kObject{};
template <>
inline constexpr Object kObject<InlinedAt>{"InlinedAt", "A call whose callee was inlined."};
template <>
inline constexpr Object kObject<HeaderPlace>{"HeaderPlace",
                                             "An instruction's own line, in a header's function that was inlined."};
template <>
inline constexpr Object kObject<AccessedMemory>{"AccessedMemory", "Accessed bytes of an object."};
template <>
inline constexpr Object kObject<FindingAccess>{
    "FindingAccess", "One participant of a finding: an access of a thread, a launch, a copy, or a call of the host."};
template <>
inline constexpr Object kObject<FindingOrigin>{"FindingOrigin", "Origin of the memory or value of a finding."};
template <>
inline constexpr Object kObject<FindingCause>{"FindingCause", "Cause of a finding."};
template <>
inline constexpr Object kObject<Finding>{"Finding", "One error of a program."};
template <>
inline constexpr Object kObject<SourceFile>{"SourceFile", "The text of a source."};
template <>
inline constexpr Object kObject<AllocationProfile>{"Allocation", "An allocation of device memory."};
template <>
inline constexpr Object kObject<Transaction>{"Transaction",
                                             "One memory transaction of a request, by the GPU's coalescing rule."};
template <>
inline constexpr Object kObject<PatternBase>{"PatternBase", "Place of the lowest address in the example of a pattern."};
template <>
inline constexpr Object kObject<AccessPattern>{"Pattern", "Requests of one instruction with the same access pattern."};
template <>
inline constexpr Object kObject<TensorDimension>{"TensorDimension", "A dimension of a tensor and of a copy's box."};
template <>
inline constexpr Object kObject<TensorRow>{"TensorRow", "One of four rows that a copy gathers or scatters."};
template <>
inline constexpr Object kObject<TensorCopyProfile>{"TensorCopy", "Tensor copies of one kind, by one instruction."};
template <>
inline constexpr Object kObject<TileProfile>{"Tile", "A box as a tensor copy has put it into shared memory."};
template <>
inline constexpr Object kObject<OperandProfile>{"Operand", "Matrices that wgmma reads from shared memory."};
template <>
inline constexpr Object kObject<SiteProfile>{"Site", "A memory instruction or a branch."};
template <>
inline constexpr Object kObject<CodeRow>{"CodeRow", "One PTX instruction."};
template <>
inline constexpr Object kObject<LineProfile>{"LineRow", "A line of a source."};
template <>
inline constexpr Object kObject<GraphBlock>{"GraphBlock", "A basic block."};
template <>
inline constexpr Object kObject<GraphEdge>{"GraphEdge", "An edge from one basic block to another."};
template <>
inline constexpr Object kObject<FlowGraph>{"FlowGraph", "A kernel's flow graph."};
template <>
inline constexpr Object kObject<TraceEventProfile>{"TraceEvent", "One request of the traced block."};
template <>
inline constexpr Object kObject<BlockTraceProfile>{"BlockTrace", "The accesses of one block."};
template <>
inline constexpr Object kObject<BoundProfile>{"Bound", "One limit of an estimated time."};
template <>
inline constexpr Object kObject<WorkProfile>{"Work", "Equal launches of a kernel, as the time model sees them."};
template <>
inline constexpr Object kObject<Advice::Evidence>{"Evidence", "A figure that supports the advice."};
template <>
inline constexpr Object kObject<Advice::Place>{"Place", "A place in the source."};
template <>
inline constexpr Object kObject<Advice>{"Advice", "One recommendation for a kernel."};
template <>
inline constexpr Object kObject<KernelProfile>{"Kernel", "The launches of a kernel, or one of them."};
template <>
inline constexpr Object kObject<RangeKernel>{"RangeKernel", "The launches of a kernel in a named range."};
template <>
inline constexpr Object kObject<RangeProfile>{"Range", "The launches in a named range."};
template <>
inline constexpr Object kObject<TransferProfile>{"Transfer", "Copies of one kind."};
template <>
inline constexpr Object kObject<LibraryCallProfile>{"LibraryCall",
                                                    "Calls of one kind, of a library that ran on the host."};
template <>
inline constexpr Object kObject<LaunchedKernel>{"LaunchedKernel", "A kernel that ran."};
template <>
inline constexpr Object kObject<FailedCall>{"FailedCall", "Equal errors of a CUDA call."};
template <>
inline constexpr Object kObject<Activity>{"Activity", "What the program did with the GPU, and what it left undone."};
template <>
inline constexpr Object kObject<TimelineEntry>{"TimelineItem", "One work item on the modelled GPU."};
template <>
inline constexpr Object kObject<Metric>{"MetricValue", "A counter."};
template <>
inline constexpr Object kObject<Definition>{"Definition", "Definition of a counter."};
template <>
inline constexpr Object kObject<Banks>{"Banks", "Layout of shared memory."};
template <>
inline constexpr Object kObject<Model>{"Model", "Figures of a GPU."};
template <>
inline constexpr Object kObject<RecordedPlace>{"RecordedPlace", "A source line with steps."};
template <>
inline constexpr Object kObject<RecordedVariable>{"RecordedVariable", "A variable of the lanes."};
template <>
inline constexpr Object kObject<SharedMember>{"SharedMember", "A number in a structure in shared memory."};
template <>
inline constexpr Object kObject<SharedVariable>{"SharedVariable", "A variable in shared memory."};
template <>
inline constexpr Object kObject<RecordedObject>{"RecordedObject", "Global memory that a recorded block accesses."};
template <>
inline constexpr Object kObject<RecordedAccess>{"RecordedAccess", "One request of a step."};
template <>
inline constexpr Object kObject<RecordedChange>{"RecordedChange", "A variable with another value after a step."};
template <>
inline constexpr Object kObject<RecordedStep>{"RecordedStep", "One warp at one source line."};
template <>
inline constexpr Object kObject<RecordedFault>{"RecordedFault", "What ended the launch of a recorded block."};
template <>
inline constexpr Object kObject<Recording>{"Recording", "One block of a kernel, step by step."};
template <>
inline constexpr Object kObject<Profile>{"Profile", "All results of a run."};

// Objects with a table of their own in the document. The others appear in the tables of their owners.
template <class T>
inline constexpr bool kHasTable =
    Is<T, Profile> || Is<T, Model> || Is<T, Metric> || Is<T, KernelProfile> || Is<T, SiteProfile> ||
    Is<T, AccessPattern> || Is<T, TensorCopyProfile> || Is<T, Finding> || Is<T, Activity> || Is<T, Recording>;

template <class T>
inline constexpr bool kIsObject = !kObject<T>.name.empty();

// Object type that a member holds, once or several times; void: not an object.
template <class T>
struct Held {
  using Type = std::conditional_t<kIsObject<T>, T, void>;
  static constexpr std::string_view joint = ".";
};
template <class T>
struct Held<std::optional<T>> : Held<T> {};
template <class T>
struct Held<std::vector<T>> : Held<T> {
  static constexpr std::string_view joint = "[].";
};
template <class T, class Less>
struct Held<std::map<std::string, T, Less>> : Held<T> {
  static constexpr std::string_view joint = ".NAME.";
};

// ---- The page's types.

template <class T>
std::string typescript_type() {
  if constexpr (Is<T, Metrics::ByName>) {
    return "Metrics";  // the page's own type, over a packed form
  } else if constexpr (kIsA<T, std::optional>) {
    return typescript_type<typename T::value_type>();
  } else if constexpr (kIsA<T, std::vector>) {
    return typescript_type<typename T::value_type>() + "[]";
  } else if constexpr (kIsA<T, std::map>) {
    return fmt::format("Record<string, {}>", typescript_type<typename T::mapped_type>());
  } else if constexpr (Is<T, Dim3>) {
    return "number[]";
  } else if constexpr (Is<T, Origin>) {
    return "Origin";
  } else if constexpr (Is<T, std::string> || Is<T, Severity> || kIsA<T, Hex>) {
    return "string";
  } else if constexpr (Is<T, bool>) {
    return "boolean";
  } else if constexpr (std::is_arithmetic_v<T> || kIsA<T, WithPoint>) {
    return "number";
  } else if constexpr (kIsA<T, NumberOrWord>) {
    return "number | string";
  } else if constexpr (kIsA<T, LaneAddresses>) {
    return "(number | null)[]";
  } else {
    static_assert(kIsObject<T>, "it needs a name: kObject");
    return std::string(kObject<T>.name);
  }
}

struct TypeScriptWriter {
  std::string out;

  template <class T>
  void member(const char* key, const T&, Since since, const char* what) {
    const bool may_be_null = kIsA<T, std::optional> && since != Since::if_any;
    line(key, since != Since::first, typescript_type<T>() + (may_be_null ? " | null" : ""), what);
  }
  template <class T>
  void member_if(bool, const char* key, const T& x, Since, const char* what) {
    member(key, x, Since::if_any, what);
  }
  template <class Make>
  void derived(const char* key, Make&& make, Since since, const char* what) {
    member(key, make(), since, what);
  }
  void index(const char* key, const char* what) { line(key, false, "number", what); }

  void line(std::string_view key, bool may_lack, const std::string& type, std::string_view what) {
    out += fmt::format("  {}{}: {};{}{}\n", key, may_lack ? "?" : "", type, what.empty() ? "" : " // ", what);
  }
};

// Writes an interface for each object, after the interfaces of the objects that it holds.
struct InterfaceWriter {
  std::string out;
  std::set<std::string_view> seen;

  template <class T>
  void object() {
    if (!seen.insert(kObject<T>.name).second) return;
    T x;
    members(*this, x);
    TypeScriptWriter w;
    members(w, x);
    out += fmt::format("\n/** {} */\nexport interface {} {{\n{}}}\n", kObject<T>.what, kObject<T>.name, w.out);
  }
  template <class T>
  void member(const char*, const T&, Since, const char*) {
    using Of = typename Held<T>::Type;
    if constexpr (!std::is_void_v<Of>) object<Of>();
  }
  template <class T>
  void member_if(bool, const char* key, const T& x, Since since, const char* what) {
    member(key, x, since, what);
  }
  template <class Make>
  void derived(const char* key, Make&& make, Since since, const char* what) {
    member(key, make(), since, what);
  }
  void index(const char*, const char*) {}
};

// ---- The document.

struct MarkdownWriter {
  std::string out;
  std::string above = {};                // "accesses[].memory."
  std::set<std::string_view> seen = {};  // objects whose members are already written

  template <class T>
  void member(const char* key, const T&, Since since, const char* what) {
    row(key, since == Since::if_any, what);
    using Of = typename Held<T>::Type;
    if constexpr (!std::is_void_v<Of> && !kHasTable<Of>) below<Of>(key, Held<T>::joint);
  }
  template <class T>
  void member_if(bool, const char* key, const T& x, Since since, const char* what) {
    member(key, x, since, what);
  }
  template <class Make>
  void derived(const char* key, Make&& make, Since since, const char* what) {
    member(key, make(), since, what);
  }
  void index(const char* key, const char* what) { row(key, false, what); }

  template <class T>
  void below(std::string_view key, std::string_view joint) {
    if (!seen.insert(kObject<T>.name).second) return;
    const std::string outer = std::exchange(above, fmt::format("{}{}{}", above, key, joint));
    T x;
    members(*this, x);
    above = outer;
  }
  void row(std::string_view key, bool may_lack, std::string_view what) {
    out += fmt::format("| `{}{}` | {}{}{} |\n", above, key, what, may_lack && !what.empty() ? "; " : "",
                       may_lack ? "only where there is one" : "");
  }
};

template <class T>
DocumentedType documented() {
  static_assert(kHasTable<T>);
  MarkdownWriter w{"| member | is |\n|---|---|\n"};
  T x;
  members(w, x);
  return {std::string(kObject<T>.name), std::move(w.out)};
}

}  // namespace

std::vector<DocumentedType> profile_as_markdown() {
  return {documented<Profile>(),       documented<Model>(),       documented<Metric>(),
          documented<KernelProfile>(), documented<SiteProfile>(), documented<AccessPattern>(),
          documented<Finding>(),       documented<Activity>(),    documented<Recording>()};
}

std::string profile_as_typescript() {
  std::string origins;
  for (const Origin o : kOrigins) origins += fmt::format("{}\"{}\"", origins.empty() ? "" : " | ", name(o));
  InterfaceWriter w;
  w.object<Profile>();
  return fmt::format(
             "// Made from src/analysis/results/*_members.h by WARPGRIND_REBASE=1 build/bin/test_results.\n\n"
             "import type {{ Metrics }} from \"./data\";\n\n"
             "export type Origin = {};\n",
             origins) +
         w.out;
}

}  // namespace warpgrind::results
