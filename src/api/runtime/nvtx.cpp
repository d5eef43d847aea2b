// Named ranges of NVTX. Version 3 is a header. It loads the library that NVTX_INJECTION64_PATH names (`warpgrind run`
// sets it) and calls InitializeInjectionNvtx2, which enters our functions in its table (numbers of the entries:
// nvtx3/nvtxDetail/nvtxTypes.h). Programs with version 2 call functions of a library; ours are found first.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/per_thread.h"
#include "runtime/call.h"
#include "semantics/call_scope.h"
#include "semantics/launch.h"
#include "session/ranges.h"
#include "session/session.h"
#include "timing/timeline.h"

namespace {

// The documented beginning of nvtxEventAttributes_t.
struct EventAttributes {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type, reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};
enum MessageType : std::int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };

std::string narrow(const wchar_t* text) {  // for display only: characters outside ASCII become '?'
  std::string out;
  for (; text && *text; ++text) out += *text > 0 && *text < 128 ? static_cast<char>(*text) : '?';
  return out;
}

// Handle of a registered string: a pointer to its text, which lives as long as the process.
const void* register_string(const std::string& text) {
  static std::mutex mutex;
  static auto& strings = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return strings.insert(text).first->c_str();
}

std::string message(std::int32_t type, const void* text) {
  if (!text) return "";
  if (type == kUnicode) return narrow(static_cast<const wchar_t*>(text));
  return type == kAscii || type == kRegistered ? static_cast<const char*>(text) : "";
}
std::string message(const EventAttributes* attributes) {
  if (!attributes || attributes->size < sizeof(EventAttributes)) return "";
  return message(attributes->message_type, attributes->message);
}

// An open range and its begin time, for the timeline.
struct Open {
  std::string name;
  const void* domain;
  warpgrind::runtime::Moment begin;
};
using OpenRanges = std::vector<Open>;
struct Started {
  std::mutex mutex;
  std::map<std::uint64_t, Open> ranges;
};
// Never destroyed: the program's own static destructors may still end ranges.
Started& started() {
  static auto* all = new Started;
  return *all;
}

int push(std::string name, const void* domain = nullptr) {
  warpgrind::per_thread<OpenRanges>().push_back({name, domain, warpgrind::runtime::host_moment()});
  return warpgrind::session::push_range(std::move(name), domain);
}
int pop(const void* domain = nullptr) {
  OpenRanges& open = warpgrind::per_thread<OpenRanges>();
  const auto last = std::find_if(open.rbegin(), open.rend(), [&](const Open& r) { return r.domain == domain; });
  if (last != open.rend()) {
    warpgrind::runtime::host_row(last->begin, "range", last->name);
    open.erase(std::next(last).base());
  }
  return warpgrind::session::pop_range(domain);
}
std::uint64_t start(std::string name) {
  Open open{name, nullptr, warpgrind::runtime::host_moment()};
  const std::uint64_t id = warpgrind::session::start_range(std::move(name));
  const std::lock_guard lock(started().mutex);
  started().ranges.emplace(id, std::move(open));
  return id;
}
void end(std::uint64_t id) {
  Open open{};
  {
    const std::lock_guard lock(started().mutex);
    if (const auto found = started().ranges.extract(id)) open = found.mapped();
  }
  warpgrind::runtime::host_row(open.begin, "range", open.name);
  warpgrind::session::end_range(id);
}

int push_ascii(const char* text) {
  return push(message(kAscii, text));
}
int push_wide(const wchar_t* text) {
  return push(message(kUnicode, text));
}
int push_attributes(const EventAttributes* attributes) {
  return push(message(attributes));
}
int pop_own() {
  return pop();
}
std::uint64_t start_ascii(const char* text) {
  return start(message(kAscii, text));
}
std::uint64_t start_wide(const wchar_t* text) {
  return start(message(kUnicode, text));
}
std::uint64_t start_attributes(const EventAttributes* attributes) {
  return start(message(attributes));
}
// Ranges of different domains nest independently. Names of domains are not shown.
int push_in_domain(void* domain, const EventAttributes* attributes) {
  return push(message(attributes), domain);
}
int pop_in_domain(void* domain) {
  return pop(domain);
}
std::uint64_t start_in_domain(void*, const EventAttributes* attributes) {
  return start_attributes(attributes);
}
void end_in_domain(void*, std::uint64_t id) {
  end(id);
}
const void* register_ascii(void*, const char* text) {
  return register_string(text ? text : "");
}
const void* register_wide(void*, const wchar_t* text) {
  return register_string(narrow(text));
}

// Handle of a domain: a pointer to its name.
const void* create_ascii(const char* name) {
  return register_string(message(kAscii, name));
}
const void* create_wide(const wchar_t* name) {
  return register_string(message(kUnicode, name));
}

using FunctionPointer = void (*)();
struct CallbackTable {
  std::size_t struct_size;
  int (*get_module)(int module, FunctionPointer*** table, unsigned* size);
};
constexpr std::uint32_t kCallbacks = 1;
constexpr int kCore = 1, kCore2 = 5;
// Indices in the tables of the two modules (NVTX_CBID_* of nvtx3/nvtxDetail/nvtxTypes.h).
enum CoreSlot : unsigned {
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11
};
enum DomainSlot : unsigned {
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
};

struct Slot {
  unsigned index;
  FunctionPointer function;
};
template <class F>
FunctionPointer erase(F* function) {
  return reinterpret_cast<FunctionPointer>(function);
}

void fill(const CallbackTable& callbacks, int module, std::initializer_list<Slot> slots) {
  FunctionPointer** table = nullptr;
  unsigned size = 0;
  if (!callbacks.get_module(module, &table, &size)) return;
  for (const Slot& slot : slots)
    if (slot.index < size && table[slot.index]) *table[slot.index] = slot.function;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int nvtxRangePushA(const char* text) {
  return push_ascii(text);
}
__attribute__((visibility("default"))) int nvtxRangePushW(const wchar_t* text) {
  return push_wide(text);
}
__attribute__((visibility("default"))) int nvtxRangePushEx(const EventAttributes* attributes) {
  return push_attributes(attributes);
}
__attribute__((visibility("default"))) int nvtxRangePop() {
  return pop();
}

__attribute__((visibility("default"))) std::uint64_t nvtxRangeStartA(const char* text) {
  return start_ascii(text);
}
__attribute__((visibility("default"))) std::uint64_t nvtxRangeStartW(const wchar_t* text) {
  return start_wide(text);
}
__attribute__((visibility("default"))) std::uint64_t nvtxRangeStartEx(const EventAttributes* attributes) {
  return start_attributes(attributes);
}
__attribute__((visibility("default"))) void nvtxRangeEnd(std::uint64_t id) {
  end(id);
}

// Functions that our include/nvtx3 calls. type, text: the message.
__attribute__((visibility("default"))) int warpgrind_nvtx_push(void* domain, std::int32_t type, const void* text) {
  return push(message(type, text), domain);
}
__attribute__((visibility("default"))) int warpgrind_nvtx_pop(void* domain) {
  return pop_in_domain(domain);
}
__attribute__((visibility("default"))) std::uint64_t warpgrind_nvtx_start(std::int32_t type, const void* text) {
  return start(message(type, text));
}
__attribute__((visibility("default"))) void warpgrind_nvtx_end(std::uint64_t id) {
  end(id);
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void* (*get_table)(std::uint32_t)) {
  const auto* callbacks = static_cast<const CallbackTable*>(get_table(kCallbacks));
  if (!callbacks || callbacks->struct_size < sizeof(CallbackTable)) return 0;
  fill(*callbacks, kCore,
       {{kRangeStartEx, erase(start_attributes)},
        {kRangeStartA, erase(start_ascii)},
        {kRangeStartW, erase(start_wide)},
        {kRangeEnd, erase(end)},
        {kRangePushEx, erase(push_attributes)},
        {kRangePushA, erase(push_ascii)},
        {kRangePushW, erase(push_wide)},
        {kRangePop, erase(pop_own)}});
  fill(*callbacks, kCore2,
       {{kDomainRangeStartEx, erase(start_in_domain)},
        {kDomainRangeEnd, erase(end_in_domain)},
        {kDomainRangePushEx, erase(push_in_domain)},
        {kDomainRangePop, erase(pop_in_domain)},
        {kDomainRegisterStringA, erase(register_ascii)},
        {kDomainRegisterStringW, erase(register_wide)},
        {kDomainCreateA, erase(create_ascii)},
        {kDomainCreateW, erase(create_wide)}});
  return 1;
}

// Clock of the virtual host, in nanoseconds since the program's start: what a CPU timer around CUDA calls would show
// with the modelled GPU. Programs look the function up by name, so that they also run without warpgrind.
__attribute__((visibility("default"))) double warpgrind_host_ns() {
  return warpgrind::runtime::host_now();
}

// Approximate number of blocks that run of each launch (`warpgrind run --blocks`); results are then wrong. 0: all run.
__attribute__((visibility("default"))) unsigned long long warpgrind_blocks_of_a_launch() {
  return warpgrind::session::options().blocks;
}

// Virtual time, in nanoseconds, spent on loading kernels at their first launches. Later launches do not spend it again.
__attribute__((visibility("default"))) double warpgrind_loading_ns() {
  return warpgrind::semantics::loading_ns();
}

// Empties the modelled L2 caches of all GPUs. On a real GPU, a program reads twice the cache's size for that; here this
// would be slow, and would add a kernel to the profile. Call it when all work has ended.
__attribute__((visibility("default"))) void warpgrind_flush_l2() {
  warpgrind::runtime::flush_l2();
}

}  // extern "C"
