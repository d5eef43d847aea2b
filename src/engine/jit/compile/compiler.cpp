// Compiler that takes machine code from the disk cache or from LLVM, and loads it.
#include "jit/compile/compiler.h"

#include <dlfcn.h>

#include <chrono>
#include <mutex>

#include "base/assert.h"
#include "base/installation.h"
#include "base/processor.h"
#include "events/kernels_gone.h"
#include "jit/calls/symbols.h"
#include "jit/compile/backend.h"
#include "jit/compile/kernel_archive.h"
#include "jit/compile/kernel_cache.h"
#include "jit/compile/kernel_text.h"
#include "jit/compile/object_loader.h"

namespace warpgrind::jit {

std::uint32_t CompiledKernel::guard_slot(std::uint32_t i) const {
  WG_ASSERT(i <= facts().guards.size());
  return static_cast<std::uint32_t>(2 * facts().blocks.size()) + i;
}
std::uint32_t CompiledKernel::branch_slot(std::uint32_t i) const {
  WG_ASSERT(i <= facts().branches.size());
  return static_cast<std::uint32_t>(2 * facts().blocks.size() + facts().guards.size()) +
         events::BranchFacts::kCounters * i;
}
std::uint32_t CompiledKernel::edge_slot(std::uint32_t i) const {
  WG_ASSERT(i <= facts().edge_counters);
  return branch_slot(static_cast<std::uint32_t>(facts().branches.size())) + 2 * i;
}
std::uint32_t CompiledKernel::slow_path_slot(std::uint32_t i) const {
  WG_ASSERT(i <= facts().slow_paths.size());
  return edge_slot(facts().edge_counters) + events::SlowPathFacts::kCounters * i;
}
std::uint32_t CompiledKernel::scoreboard_slots() const {
  return slow_path_slot(static_cast<std::uint32_t>(facts().slow_paths.size()));
}

namespace {

class Kernel final : public CompiledKernel {
 public:
  ~Kernel() override { ++events::kernels_gone; }
  WarpFunction entry() const override { return reinterpret_cast<WarpFunction>(const_cast<void*>(code.entry)); }
  const events::KernelFacts& facts() const override { return kernel_facts; }
  void store_quick_seconds(double seconds) const override { KernelCache(cache_directory).store_seconds(key, seconds); }

  LoadedObject code;
  events::KernelFacts kernel_facts;
  std::string cache_directory, key;  // no cache: empty
};

constexpr const char* kQuick = "-quick";  // behind the key of quick code

void* find_function(const char* name) {
  if (const auto symbol = find_call_symbol(name)) return symbol->address;
  return ::dlsym(RTLD_DEFAULT, name);  // memcpy, memset
}

// The kernels that come with the installation. Never destroyed: threads still compile while the process ends.
const KernelCache& installed_kernels() {
  static const KernelCache& kernels = *new KernelCache([] {
    const auto library = library_of_ours("libwarpgrind_jit.so");
    return KernelCache::prepared(library ? library->substr(0, library->rfind('/')) + "/prepared" : std::string());
  }());
  return kernels;
}

class CachingCompiler final : public Compiler {
 public:
  Result<std::unique_ptr<CompiledKernel>> compile(const ptx::Module& module, std::uint32_t entry,
                                                  const CompileOptions& options) override;
  std::vector<Error> refusals(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options) override;

 private:
  Status open_generator();
  Result<std::string> generate(Kernel& kernel, const ptx::Module& module, std::uint32_t entry,
                               const CompileOptions& options);

  std::mutex mutex_;
  std::unique_ptr<Generator> generator_;
  FileIdentity llvm_;
  bool cache_refused_ = false;  // and reported
};

Status CachingCompiler::open_generator() {
  if (generator_) return Ok{};
  const Result<Backend*> with = backend();
  if (!with) return with.error();
  llvm_ = FileIdentity::of((*with)->llvm_library());
  generator_ = (*with)->make_generator();
  return Ok{};
}

Result<std::string> CachingCompiler::generate(Kernel& kernel, const ptx::Module& module, std::uint32_t entry,
                                              const CompileOptions& options) {
  if (Status opened = open_generator(); !opened) return opened.error();
  return generator_->generate(module, entry, options, kernel, kernel.kernel_facts);
}

Result<std::unique_ptr<CompiledKernel>> CachingCompiler::compile(const ptx::Module& module, std::uint32_t entry,
                                                                 const CompileOptions& options) {
  const std::lock_guard lock(mutex_);
  const auto begin = std::chrono::steady_clock::now();
  auto kernel = std::make_unique<Kernel>();
  const KernelCache cache(options.bypasses_cache() ? std::string() : options.cache_directory);
  const KernelCache named = KernelCache::prepared(options.prepared_directory);
  const KernelCache& prepared = options.prepared_directory.empty() ? installed_kernels() : named;
  for (const KernelCache* folder : {&cache, &prepared}) {
    if (folder->refusal().empty() || cache_refused_) continue;
    cache_refused_ = true;
    if (options.on_cache_refused) options.on_cache_refused(folder->refusal());
  }
  std::string key, made;
  std::optional<std::string> file;
  std::optional<std::string_view> object;  // a part of `file`, or `made`
  const auto find_in = [&](const KernelCache& folder, const std::string& name) {
    if (object) return;
    file = folder.find(name);
    if (file) object = unpack(*file, *kernel, kernel->kernel_facts);
    if (object && !set_places(kernel->kernel_facts, module)) object.reset();
  };
  const auto find = [&] {
    find_in(cache, key);
    find_in(prepared, key);
  };
  if (cache.enabled()) {
    // Never destroyed: threads still compile while the process ends.
    static const std::string& processor = *new std::string(processor_identity());
    key = cache_key(module, entry, options, options.for_level ? options.cpu : processor + " " + options.cpu);
    find();
    if (!object && options.quick_start) {
      key += kQuick;
      find();
      const std::string level(options.cpu.empty() ? processor_level() : options.cpu);
      if (!object && prepared.enabled() && !level.empty())
        find_in(prepared, cache_key(module, entry, options, level) + kQuick);
      kernel->quick_seconds = cache.seconds_run(key);
    }
    kernel->cache_directory = options.cache_directory;
    kernel->key = key;
  }
  kernel->from_cache = object.has_value();
  if (!object) {
    Result<std::string> generated = generate(*kernel, module, entry, options);
    if (!generated) return generated.error();
    made = generated.take();
    object = made;
    if (cache.enabled() && options.for_level)
      cache.store_packed(key, pack(*kernel, FileIdentity(), made));
    else if (cache.enabled())
      cache.store(key, pack(*kernel, llvm_, made));
  }
  Result<LoadedObject> loaded = load_object(*object, "kernel", find_function);
  if (!loaded) return loaded.error();
  kernel->code = loaded.take();
  kernel->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::unique_ptr<CompiledKernel>(std::move(kernel));
}

std::vector<Error> CachingCompiler::refusals(const ptx::Module& module, std::uint32_t entry,
                                             const CompileOptions& options) {
  const std::lock_guard lock(mutex_);
  if (Status opened = open_generator(); !opened) return {opened.error()};
  return generator_->refusals(module, entry, options);
}

}  // namespace

std::unique_ptr<Compiler> make_compiler() {
  register_integer_symbols();
  register_math_symbols();
  register_aside_symbols();
  register_slow_path_symbols();
  return std::make_unique<CachingCompiler>();
}

}  // namespace warpgrind::jit
