// Byte format of a compiled kernel. One list of members serves writing and reading.
#include "jit/compile/kernel_archive.h"

#include <sys/stat.h>

#include <cstring>
#include <type_traits>

#include "base/assert.h"
#include "base/digest.h"
#include "jit/code_hash.h"  // made by the build: kCodeHash, a digest of the code-generation sources
#include "jit/compile/kernel_text.h"

namespace warpgrind::jit {

namespace {

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_.append(text);
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    (*this)(list.size());
    for (const T& t : list) visit(*this, t);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Never reads past the end. Missing bytes read as zero, and then ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(T& value) {
    if (!has(sizeof value)) return;
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
  }
  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    if (!has(size)) return;
    text = left_.substr(0, size);
    left_.remove_prefix(size);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    std::size_t size = 0;
    (*this)(size);
    if (!has(size)) return;  // an element takes at least one byte
    list.resize(size);
    for (T& t : list) visit(*this, t);
  }
  bool ok() const { return ok_; }
  std::string_view rest() const { return left_; }

 private:
  bool has(std::size_t size) {
    ok_ = ok_ && size <= left_.size();
    return ok_;
  }
  std::string_view left_;
  bool ok_ = true;
};

// One list of members for both directions. The structured bindings name every member, so that a new member does not
// compile until it is added.
template <class A, class... T>
void members(A& archive, T&... m) {
  (archive(m), ...);
}

template <class T, class Plain>
concept Is = std::is_same_v<std::remove_const_t<T>, Plain>;

template <class A>
void visit(A& a, Is<std::string> auto& s) {
  a(s);
}
template <class A>
void visit(A& a, Is<events::GuardFacts> auto& s) {
  a(s);
}
template <class A>
void visit(A& a, Is<events::SlowPathFacts> auto& s) {
  a(s);
}
template <class A>
void visit(A& a, Is<events::EdgeFacts> auto& s) {
  a(s);
}
template <class A>
void visit(A& a, Is<events::AddressOrigin> auto& s) {
  auto& [kind, index, offset, bytes, name] = s;
  members(a, kind, index, offset, bytes, name);
}
template <class A>
void visit(A& a, Is<events::Site> auto& s) {
  auto& [kind, space, bytes, vector, coordinates, is_volatile, non_coherent, at_l2, no_return, multimem, order, scope,
         shared_atomic, ptx_line, file, line, index, function, text, leader, distance, origins] = s;
  members(a, kind, space, bytes, vector, coordinates, is_volatile, non_coherent, at_l2, no_return, multimem, order,
          scope, shared_atomic, ptx_line, file, line, index, function, text, leader, distance, origins);
}
template <class A>
void visit(A& a, Is<events::BlockFacts> auto& s) {
  auto& [first, count, by_class, fadd, fmul, ffma, dadd, dmul, dfma, hadd, hmul, hfma, line, file, function] = s;
  members(a, first, count, by_class, fadd, fmul, ffma, dadd, dmul, dfma, hadd, hmul, hfma, line, file, function);
}
template <class A>
void visit(A& a, Is<events::BranchFacts> auto& s) {
  auto& [instruction, line, file, ptx_line, function] = s;
  members(a, instruction, line, file, ptx_line, function);
}
template <class A>
void visit(A& a, Is<events::KernelFacts> auto& s) {
  auto& [name, sites, blocks, guards, branches, slow_paths, edges, edge_counters, files] = s;
  members(a, name, sites, blocks, guards, branches, slow_paths, edges, edge_counters, files);
}
template <class A>
void visit_kernel(A& a, Is<CompiledKernel> auto& k) {
  members(a, k.local_bytes, k.open_ended, k.least_recursive_frame, k.static_shared_bytes, k.dynamic_shared_offset,
          k.parameter_bytes, k.frame_bytes, k.has_regions, k.region_bytes, k.register_estimate, k.keeps_time, k.size,
          k.better_seconds);
}

}  // namespace

const std::string_view kCodeDigest = kCodeHash;

FileIdentity FileIdentity::of(const std::string& path) {
  FileIdentity out{path, 0, 0};
  struct stat file {};
  if (::stat(path.c_str(), &file) == 0) {
    out.bytes = static_cast<std::uint64_t>(file.st_size);
    out.modified_ns = std::int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
  }
  return out;
}

std::string cache_key(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options,
                      const std::string& cpu, std::string_view code) {
  Writer parts;
  const auto add = [&](std::string_view part) { parts(std::string(part)); };
  const std::uint8_t flags[] = {static_cast<std::uint8_t>(options.shape),
                                options.counters,
                                options.every_access,
                                options.watched,
                                options.synchronization,
                                options.edges,
                                options.definedness,
                                options.clusters,
                                static_cast<std::uint8_t>(options.stops)};
  add(code);
  add(cpu);
  add({reinterpret_cast<const char*>(flags), sizeof flags});
  add(module.functions[entry].name);
  // A debugger's stops are at lines of the source.
  const auto text = options.stops == StopAt::nowhere ? kernel_text(module, entry) : std::nullopt;
  if (text) {
    add(*text);
    return digest(parts.take());
  }
  add(std::to_string(entry));
  for (const std::string& file : module.files) add(file);
  add(module.text);
  return digest(parts.take());
}

std::string pack(const CompiledKernel& kernel, const FileIdentity& llvm, std::string_view object) {
  Writer writer;
  members(writer, llvm.path, llvm.bytes, llvm.modified_ns);
  visit_kernel(writer, kernel);
  visit(writer, kernel.facts());
  WG_ASSERT(!object.empty());
  return writer.take().append(object);
}

std::optional<std::string_view> unpack(std::string_view bytes, CompiledKernel& kernel, events::KernelFacts& facts) {
  Reader reader(bytes);
  FileIdentity llvm;
  members(reader, llvm.path, llvm.bytes, llvm.modified_ns);
  if (!reader.ok() || !(FileIdentity::of(llvm.path) == llvm)) return std::nullopt;
  visit_kernel(reader, kernel);
  visit(reader, facts);
  if (!reader.ok() || reader.rest().empty()) return std::nullopt;
  return reader.rest();
}

}  // namespace warpgrind::jit
