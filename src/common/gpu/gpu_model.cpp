// Reader and checks of model files, and the table of embedded models.
#include "gpu/gpu_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/assert.h"
#include "base/edit_distance.h"
#include "base/file.h"
#include "gpu/timing_rules.h"

namespace warpgrind {
namespace {

using Json = nlohmann::json;

struct EmbeddedModel {
  const char* id;
  const char* text;
};

constexpr EmbeddedModel kEmbedded[] = {
#include "gpu/embedded_models.inc"
};

// Allowed values of a number, both ends included.
struct Range {
  double low = 0, high = 0;
  bool holds(double value) const { return value >= low && value <= high; }
};
constexpr double kManyBytes = 1ull << 44;
constexpr Range kCount = {1, 65536}, kCountOrNone = {0, 65536};  // of units, threads, registers
constexpr Range kBytes = {1, kManyBytes}, kBytesOrNone = {0, kManyBytes};
constexpr Range kMegahertz = {1, 1e6};
constexpr Range kGrid = {1, 4294967295.0};
constexpr Range kPositive = {1e-9, 1e18};  // a constant that divides

// Reads members by name. Every member must exist, but those of find(), and be used: a misspelt figure is an error.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  void read(const char* key, bool& out) {
    const Json* j = member(key);
    if (j == nullptr) return;
    if (!j->is_boolean()) return fail(key, "true or false");
    out = j->get<bool>();
  }
  void read(const char* key, std::string& out) {
    const Json* j = member(key);
    if (j == nullptr) return;
    if (!j->is_string()) return fail(key, "a string");
    out = j->get<std::string>();
  }
  template <class T>
  void read(const char* key, T& out, Range range) {
    const Json* j = member(key);
    if (j == nullptr) return;
    if (std::is_integral_v<T> ? !j->is_number_integer() : !j->is_number())
      return fail(key, std::is_integral_v<T> ? "a whole number" : "a number");
    if (!range.holds(j->get<double>())) return fail_range(key, *j, range);
    out = j->get<T>();
  }
  template <class T>
  void read(const char* key, std::vector<T>& out) {
    const Json* j = member(key);
    if (j == nullptr) return;
    if (!j->is_array()) return fail(key, "a list");
    out.clear();
    for (const Json& element : *j) {
      const bool good = std::is_same_v<T, std::string> ? element.is_string() : element.is_number_unsigned();
      if (!good) return fail(key, "a list of one kind");
      out.push_back(element.get<T>());
    }
  }
  template <class T>
  void read(const char* key, T (&out)[3], Range range) {
    std::vector<T> list;
    read(key, list);
    if (list.size() != 3) return fail(key, "three numbers");
    for (const T value : list)
      if (!range.holds(static_cast<double>(value))) return fail_range(key, value, range);
    std::copy(list.begin(), list.end(), out);
  }
  void read_one_of(const char* key, std::uint8_t& out, std::uint8_t first, std::uint8_t second) {
    const Json* j = member(key);
    if (j == nullptr) return;
    if (*j != first && *j != second) return fail(key, fmt::format("{} or {}, not {}", first, second, j->dump()));
    out = j->get<std::uint8_t>();
  }
  const Json* member(const char* key) {
    const Json* found = find(key);
    if (found == nullptr) fail(key, "present");
    return found;
  }
  const Json* find(const char* key) {  // of a member that may be absent: null then
    seen_.push_back(key);
    const auto it = object_.find(key);
    return it != object_.end() ? &*it : nullptr;
  }
  void fail(const char* key, std::string_view expected) {
    if (error_.empty()) error_ = fmt::format("{}: \"{}\" must be {}", where_, key, expected);
  }
  void fail_range(const char* key, const Json& value, Range range) {
    fail(key, fmt::format("from {:.12g} to {:.12g}, not {}", range.low, range.high, value.dump()));
  }
  std::string finish() {
    for (auto it = object_.begin(); error_.empty() && it != object_.end(); ++it)
      if (std::find(seen_.begin(), seen_.end(), it.key()) == seen_.end())
        error_ = fmt::format("{}: \"{}\" is not a figure of a GPU model", where_, it.key());
    return error_;
  }

 private:
  const Json& object_;
  std::string where_, error_;
  std::vector<std::string> seen_;
};

std::string read_rules(const Json& json, const std::string& where, AccessRules& rules) {
  Reader r(json, where + ".rules");
  std::string coalescing;
  r.read("coalescing", coalescing);
  constexpr std::pair<const char*, CoalescingRule> kNames[] = {
      {"half_warp_strict", CoalescingRule::half_warp_strict},
      {"half_warp_segments", CoalescingRule::half_warp_segments},
      {"lines_128", CoalescingRule::lines_128},
      {"sectors_32", CoalescingRule::sectors_32},
  };
  bool found = false;
  for (const auto& [text, rule] : kNames)
    if (coalescing == text) {
      rules.coalescing = rule;
      found = true;
    }
  if (!found) r.fail("coalescing", "half_warp_strict, half_warp_segments, lines_128 or sectors_32");
  if (const Json* banks = r.member("banks")) {
    Reader b(*banks, where + ".rules.banks");
    b.read_one_of("banks", rules.banks.banks, 16, 32);
    b.read_one_of("bank_bytes", rules.banks.bank_bytes, 4, 8);
    b.read_one_of("lanes", rules.banks.lanes, 16, 32);
    b.read("paired_words", rules.banks.paired_words);
    if (std::string e = b.finish(); !e.empty()) return e;
  }
  return r.finish();
}

bool read_origin(const std::string& text, TimingOrigin& out) {
  for (const TimingOrigin o : {TimingOrigin::measured, TimingOrigin::literature, TimingOrigin::assumed})
    if (text == name(o)) {
      out = o;
      return true;
    }
  return false;
}

// Appends to `given` for each constant whether the file has it.
std::string read_timing(const Json& json, const std::string& where, GpuModel& m, std::vector<bool>& given) {
  Reader r(json, where + ".timing");
  r.read("measured_on", m.timing_measured_on);
  for (const TimingFigure& f : timing_figures()) {
    TimingSource& source = m.timing_sources.emplace_back();
    const Json* entry = r.find(f.name);
    given.push_back(entry != nullptr);
    if (entry == nullptr) continue;
    Reader e(*entry, where + ".timing." + f.name);
    std::string unit, origin;
    e.read("value", m.timing.*f.value, f.may_be_zero ? Range{0, kPositive.high} : kPositive);
    e.read("unit", unit);
    e.read("origin", origin);
    if (unit != f.unit) e.fail("unit", f.unit);
    if (!read_origin(origin, source.origin)) e.fail("origin", "measured, literature or assumed");
    if (source.origin != TimingOrigin::measured || entry->contains("from")) e.read("from", source.from);
    if (std::string problem = e.finish(); !problem.empty()) return problem;
  }
  return r.finish();
}

std::string read_model(const Json& json, const std::string& where, GpuModel& m, std::vector<bool>& given) {
  Reader r(json, where);
  r.read("id", m.id);
  r.read("name", m.name);
  r.read("aliases", m.aliases);
  r.read("cc_major", m.cc_major, {1, 99});
  r.read("cc_minor", m.cc_minor, {0, 9});
  r.read("architecture", m.architecture);
  r.read("sm_count", m.sm_count, kCount);
  r.read("schedulers_per_sm", m.schedulers_per_sm, kCount);
  r.read("cores_fp32_per_sm", m.cores_fp32_per_sm, kCount);
  r.read("cores_fp64_per_sm", m.cores_fp64_per_sm, kCountOrNone);
  r.read("cores_int_per_sm", m.cores_int_per_sm, kCount);
  r.read("sfu_per_sm", m.sfu_per_sm, kCount);
  r.read("ldst_per_sm", m.ldst_per_sm, kCount);
  r.read("max_threads_per_sm", m.max_threads_per_sm, {32, 65536});
  r.read("max_warps_per_sm", m.max_warps_per_sm, kCount);
  r.read("max_blocks_per_sm", m.max_blocks_per_sm, kCount);
  r.read("max_threads_per_block", m.max_threads_per_block, {1, 1024});
  r.read("registers_per_sm", m.registers_per_sm, {1, 16777216});
  r.read("registers_per_block", m.registers_per_block, {1, 16777216});
  r.read("max_registers_per_thread", m.max_registers_per_thread, {1, 255});
  r.read("min_registers_per_thread", m.min_registers_per_thread, {0, 255});
  r.read("register_allocation_unit", m.register_allocation_unit, kCount);
  r.read("warp_allocation_granularity", m.warp_allocation_granularity, kCount);
  r.read("shared_per_sm", m.shared_per_sm, kBytes);
  r.read("shared_per_block", m.shared_per_block, kBytes);
  r.read("shared_per_block_optin", m.shared_per_block_optin, kBytesOrNone);
  r.read("shared_reserved_per_block", m.shared_reserved_per_block, kBytesOrNone);
  r.read("shared_allocation_unit", m.shared_allocation_unit, kCount);
  r.read("shared_carveouts", m.shared_carveouts);
  r.read("max_block_dim", m.max_block_dim, kCount);
  r.read("max_grid_dim", m.max_grid_dim, kGrid);
  r.read("memory_bytes", m.memory_bytes, kBytes);
  r.read("l2_bytes", m.l2_bytes, kBytesOrNone);
  r.read("l1_bytes", m.l1_bytes, kBytesOrNone);
  r.read("constant_bytes", m.constant_bytes, kBytes);
  r.read("constant_cache_bytes", m.constant_cache_bytes, kBytes);
  r.read("l1_caches_global", m.l1_caches_global);
  r.read("texture_cache_bytes", m.texture_cache_bytes, kBytesOrNone);
  r.read("dram_piece_bytes", m.dram_piece_bytes, {1, 4096});
  r.read("sm_parts", m.sm_parts, kCount);
  r.read("sms_sharing_requests", m.sms_sharing_requests, kCount);
  r.read("memory_bus_bits", m.memory_bus_bits, kCount);
  r.read("memory_clock_mhz", m.memory_clock_mhz, kMegahertz);
  r.read("memory_data_rate", m.memory_data_rate, {0.1, 64});
  r.read("ecc", m.ecc);
  r.read("sm_clock_mhz", m.sm_clock_mhz, kMegahertz);
  r.read("base_clock_mhz", m.base_clock_mhz, kMegahertz);
  r.read("texture_alignment", m.texture_alignment, kCount);
  r.read("texture_pitch_alignment", m.texture_pitch_alignment, kCount);
  r.read("link_name", m.link_name);
  r.read("achievable_bandwidth_fraction", m.achievable_bandwidth_fraction, {0.01, 1});
  r.read("copy_engines", m.copy_engines, {0, 64});
  r.read("concurrent_kernels", m.concurrent_kernels);
  r.read("managed_memory", m.managed_memory);
  r.read("cooperative_launch", m.cooperative_launch);
  r.read("unified_addressing", m.unified_addressing);
  r.read("host_register", m.host_register);
  r.read("sources", m.sources);
  if (const Json* rules = r.member("rules"))
    if (std::string e = read_rules(*rules, where, m.rules); !e.empty()) return e;
  if (const Json* timing = r.member("timing"))
    if (std::string e = read_timing(*timing, where, m, given); !e.empty()) return e;
  return r.finish();
}

// A model as its file gives it.
struct FileModel {
  GpuModel model;
  std::vector<bool> given;  // the timing constants that the file has
};

std::string parse_text(std::string_view text, const std::string& where, FileModel& out) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? read_model(json, where, out.model, out.given) : where + ": not a JSON object";
}

// The string member `name` of a model's text, found without parsing the text.
std::string_view member_in(std::string_view text, std::string_view name) {
  const std::string member = fmt::format("\"{}\": \"", name);
  const std::size_t at = text.find(member);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + member.size());
  return text.substr(0, text.find('"'));
}

bool is_measured(const EmbeddedModel& e) {
  return !member_in(e.text, "measured_on").empty();
}

const GpuModel& parsed(std::size_t index);

// The model whose file has all timing constants.
constexpr std::string_view kComplete = "h200";
const GpuModel& complete_model() {
  const auto* found = std::find_if(std::begin(kEmbedded), std::end(kEmbedded),
                                   [](const EmbeddedModel& e) { return e.id == kComplete; });
  WG_ASSERT(found != std::end(kEmbedded));
  return parsed(static_cast<std::size_t>(found - kEmbedded));
}

// The measured GPU that stands in for `m`: of the same major compute capability and the nearest bandwidth, else the
// complete model.
const GpuModel& nearest_measured(const GpuModel& m) {
  const GpuModel* best = nullptr;
  const auto distance = [&](const GpuModel& other) {
    return std::abs(std::log(other.theoretical_bandwidth() / m.theoretical_bandwidth()));
  };
  for (std::size_t i = 0; i < std::size(kEmbedded); ++i) {
    if (!is_measured(kEmbedded[i])) continue;
    const GpuModel& other = parsed(i);
    if (other.cc_major == m.cc_major && (best == nullptr || distance(other) < distance(*best))) best = &other;
  }
  return best != nullptr ? *best : complete_model();
}

GpuModel parse(const EmbeddedModel& e) {
  FileModel file;
  const std::string where = fmt::format("gpu/models/{}.json", e.id);
  std::string error = parse_text(e.text, where, file);
  if (error.empty() && file.model.id != e.id) error = where + ": id differs from the file's name";
  const bool whole = std::find(file.given.begin(), file.given.end(), false) == file.given.end();
  if (error.empty() && !whole && e.id == kComplete) error = where + ": a timing constant is missing";
  if (!error.empty()) {  // our own data file is wrong: a bug that the first test finds
    std::fprintf(stderr, "%s\n", error.c_str());
    WG_ASSERT(error.empty());
  }
  // Measured models are the references of others, so their own is always the complete one.
  if (!whole) derive_timing(file.model, file.given, is_measured(e) ? complete_model() : nearest_measured(file.model));
  return std::move(file.model);
}

// Each model is parsed at its first use: a run needs one or three. They are never destroyed: the profile is written
// while the process ends, after function-local statics are gone.
const GpuModel& parsed(std::size_t index) {
  struct Slot {
    std::once_flag once;
    GpuModel model;
  };
  static auto* slots = new std::array<Slot, std::size(kEmbedded)>;
  WG_ASSERT(index < slots->size());
  Slot& slot = (*slots)[index];
  std::call_once(slot.once, [&] { slot.model = parse(kEmbedded[index]); });
  return slot.model;
}

// Models from users' files: read once, never destroyed.
Result<const GpuModel*> model_of_file(const std::string& path) {
  static std::mutex mutex;
  static auto* models = new std::map<std::string, GpuModel>;
  const std::lock_guard lock(mutex);
  if (const auto it = models->find(path); it != models->end()) return &it->second;
  const auto text = read_whole(path);
  if (!text) return Error{ErrorKind::bad_input, fmt::format("cannot read the GPU model {}", path), ""};
  FileModel file;
  if (const std::string error = parse_text(*text, path, file); !error.empty())
    return Error{ErrorKind::bad_input, error, "`warpgrind calibrate --output FILE.json` writes one"};
  derive_timing(file.model, file.given, nearest_measured(file.model));
  return &models->emplace(path, std::move(file.model)).first->second;
}

// Lower case letters and digits only: "Tesla K40c" and "tesla-k40C" are the same.
std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

double GpuModel::theoretical_bandwidth() const {
  return memory_clock_mhz * 1e6 * memory_data_rate * memory_bus_bits / 8;
}

double GpuModel::peak_flops(int bits) const {
  const double cores = bits == 64 ? cores_fp64_per_sm : cores_fp32_per_sm;
  return 2 * cores * sm_count * sm_clock_mhz * 1e6;
}

std::string_view gpu_model_text(std::string_view id) {
  for (const EmbeddedModel& e : kEmbedded)
    if (id == e.id) return e.text;
  return {};
}

const std::vector<GpuModel>& gpu_models() {
  static const auto* models = [] {
    auto* all = new std::vector<GpuModel>;
    for (std::size_t i = 0; i < std::size(kEmbedded); ++i) all->push_back(parsed(i));
    std::stable_sort(all->begin(), all->end(), [](const GpuModel& a, const GpuModel& b) {
      return std::pair(a.cc_major, a.cc_minor) < std::pair(b.cc_major, b.cc_minor);
    });
    return all;
  }();
  return *models;
}

Result<const GpuModel*> find_gpu_model(std::string_view name) {
  if (name.ends_with(".json")) return model_of_file(std::string(name));
  const std::string wanted = folded(name);
  for (std::size_t i = 0; i < std::size(kEmbedded); ++i)
    if (wanted == kEmbedded[i].id || wanted == folded(member_in(kEmbedded[i].text, "name"))) return &parsed(i);
  std::vector<std::string> known;
  std::vector<const GpuModel*> models;  // the model of each name
  for (const GpuModel& m : gpu_models()) {
    std::vector<std::string> names = m.aliases;
    names.push_back(m.id);
    names.push_back(m.name);
    for (const std::string& candidate : names) {
      known.push_back(folded(candidate));
      models.push_back(&m);
      if (known.back() == wanted) return &m;
    }
  }
  WG_ASSERT(known.size() == models.size() && !known.empty());
  const GpuModel* nearest = models[nearest_names(wanted, known, ~std::size_t{0}).front()];
  std::string ids;
  for (const GpuModel& m : gpu_models()) ids += (ids.empty() ? "" : ", ") + m.id;
  return Error{ErrorKind::bad_input, fmt::format("no GPU model is called \"{}\"; did you mean {}?", name, nearest->id),
               "known models: " + ids};
}

}  // namespace warpgrind
