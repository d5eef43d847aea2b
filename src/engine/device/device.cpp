// Implementation of Device except launch(): output, engines, memory, events of the host, modules.
#include "device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "device/device_impl.h"
#include "device/memory/address_space.h"
#include "device/memory/host_copies.h"
#include "device/memory/kept_memory.h"
#include "device/memory/undefined_origins.h"
#include "device/symbols.h"
#include "gpu/launch_limits.h"

namespace warpgrind::device {

void register_symbols() {
  jit::register_call_symbols(memory_symbols());
  jit::register_call_symbols(control_symbols());
  jit::register_call_symbols(together_symbols());
  jit::register_call_symbols(call_symbols());
  jit::register_call_symbols(device_launch_symbols());
  jit::register_call_symbols(atomic_symbols());
  jit::register_call_symbols(async_copy_symbols());
  jit::register_call_symbols(tensor_copy_symbols());
  jit::register_call_symbols(tensor_map_symbols());
  jit::register_call_symbols(bulk_reduction_symbols());
  jit::register_call_symbols(launch_control_symbols());
  jit::register_call_symbols(warpgroup_symbols());
  jit::register_call_symbols(tensor_memory_symbols());
  jit::register_call_symbols(tensor_mma_symbols());
  jit::register_call_symbols(tensor_memory_copy_symbols());
  jit::register_call_symbols(texture_symbols());
  jit::register_call_symbols(surface_symbols());
  jit::register_call_symbols(multimem_symbols());
  jit::register_call_symbols(definedness_symbols());
  jit::register_call_symbols(stop_symbols());
}

// ---- Output of kernels

void OutputBuffer::append(OutputRecord record) {
  const std::lock_guard lock(mutex_);
  bytes_ += record.cost;
  records_.push_back(std::move(record));
  while (bytes_ > limit_ && records_.size() > 1) {
    bytes_ -= records_.front().cost;
    records_.pop_front();
  }
}

void OutputBuffer::flush() {
  const std::lock_guard lock(mutex_);
  write_all();
}

void OutputBuffer::flush_when_half_full() {
  const std::lock_guard lock(mutex_);
  if (bytes_ > limit_ / 2) write_all();
}

void OutputBuffer::write_all() {
  for (const OutputRecord& r : records_) std::fwrite(r.text.data(), 1, r.text.size(), stdout);
  if (!records_.empty()) std::fflush(stdout);
  records_.clear();
  bytes_ = 0;
}

// ---- Device

Device::Impl::Impl(Device& self, int number, const GpuModel& gpu, const Options& given)
    : device(self),
      ordinal(number),
      model(gpu),
      options(given),
      schedule(given.schedule),
      compiler(jit::make_compiler()) {
  wants.host_copies = wants.host_fills = options.stops != nullptr;  // KeptMemory::host_writes
  register_symbols();
}

Device::Impl::~Impl() {
  if (options.stops) KeptMemory::instance().forget_earlier("a GPU was reset since");
  modules.clear();
}

// ---- Engines

Engine::Engine(unsigned worker_count, unsigned first_number) {
  for (unsigned i = 0; i < worker_count; ++i) {
    workers.push_back(std::make_unique<Worker>());
    workers.back()->index = i;
    workers.back()->number = first_number + i;
  }
}

Engine::~Engine() {
  for (const std::uint64_t address : {parameter_area, grid_workspace})
    if (address) AddressSpace::instance().release(address);
}

Status Engine::open(int ordinal) {
  Range attributes;
  attributes.device = ordinal;
  attributes.internal = true;
  constexpr std::uint64_t kGridWorkspaceBytes = 64;
  auto workspace = AddressSpace::instance().allocate(kGridWorkspaceBytes, 512, attributes);
  if (!workspace) return workspace.error();
  grid_workspace = *workspace;
  attributes.constant = true;
  auto parameters = AddressSpace::instance().allocate(kParameterAreaBytes, 512, attributes);
  if (!parameters) return parameters.error();
  parameter_area = *parameters;
  return Ok{};
}

Result<Engine*> Device::Impl::take_engine() {
  const std::lock_guard lock(engine_mutex);
  for (const auto& engine : engines)
    if (!engine->busy) {
      engine->busy = true;
      return engine.get();
    }
  const unsigned workers = options.workers ? options.workers : available_processors();
  auto made = std::make_unique<Engine>(workers, static_cast<unsigned>(engines.size()) * workers);
  if (Status opened = made->open(ordinal); !opened) return opened.error();
  made->busy = true;
  engines.push_back(std::move(made));
  return engines.back().get();
}

void Device::Impl::give_back(Engine& engine) {
  const std::lock_guard lock(engine_mutex);
  engine.busy = false;
}

std::unique_lock<std::mutex> Device::hold_compilation() const {
  return std::unique_lock(impl_->mutex);
}

void Device::set_schedule(const Schedule& schedule, bool alone) {
  impl_->schedule = schedule;
  impl_->alone = alone;
}

void Device::abandon_launches(bool abandon_them) {
  impl_->abandoned = abandon_them;
  if (!abandon_them) return;
  const std::lock_guard lock(impl_->engine_mutex);
  const Visit visit;
  for (const auto& engine : impl_->engines)
    if (Launch* launch = engine->running) abandon(*launch);
}

bool Device::only_waits() const {
  const std::lock_guard lock(impl_->engine_mutex);
  bool any = false;
  for (const auto& engine : impl_->engines) {
    for (unsigned i = 0; i < engine->active_workers; ++i) {
      if (engine->workers[i]->finished) continue;
      if (!engine->workers[i]->spins_only) return false;
      any = true;
    }
  }
  return any;
}

Device::Device(int ordinal, const GpuModel& model, const Options& options)
    : impl_(std::make_unique<Impl>(*this, ordinal, model, options)) {
  set_printf_fifo(printf_fifo_bytes(model));
}
Device::~Device() = default;

const GpuModel& Device::model() const {
  return impl_->model;
}
int Device::ordinal() const {
  return impl_->ordinal;
}
Device::Impl& Device::impl() {
  return *impl_;
}

void Device::add_observer(events::Observer* observer) {
  const events::Wants wants = observer->wants();
  impl_->observers.add(*observer, wants);
  impl_->wants = impl_->wants | wants;
  constexpr std::uint64_t kKeptFreed = std::uint64_t{256} << 20;
  if (impl_->wants.invalid_accesses) AddressSpace::instance().keep_freed(kKeptFreed);
  if (!impl_->wants.undefined_uses && !impl_->wants.undefined_copies) return;
  impl_->shadow = ShadowMemory::open();
  impl_->wants.host_copies = impl_->wants.host_fills = true;  // they define memory
}

// ---- Memory

namespace {
// Since Pascal, pages of managed memory move to the GPU on access. Before, all managed memory was in GPU memory.
bool managed_takes_memory(const GpuModel& model) {
  return model.cc_major < 6;
}
}  // namespace

bool Device::take_memory(std::uint64_t bytes) {
  std::uint64_t used = impl_->bytes_used.load();
  do {
    if (bytes > impl_->model.memory_bytes || used > impl_->model.memory_bytes - bytes) return false;
  } while (!impl_->bytes_used.compare_exchange_weak(used, used + bytes));
  return true;
}

void Device::give_memory_back(std::uint64_t bytes) {
  impl_->bytes_used -= bytes;
}

Result<std::uint64_t> Device::allocate(std::uint64_t size, std::uint64_t alignment, events::Allocation::Kind as,
                                       int file) {
  if (!take_memory(size))
    return Error{ErrorKind::environment,
                 fmt::format("{} bytes do not fit into the memory of the {} ({} of {} bytes are in use)", size,
                             impl_->model.name, impl_->bytes_used.load(), impl_->model.memory_bytes),
                 ""};
  Range attributes;
  attributes.device = impl_->ordinal;
  attributes.file = file;
  auto address = AddressSpace::instance().allocate(size, alignment, attributes);
  if (!address) {
    give_memory_back(size);
    return address;
  }
  fill(*address, size);
  if (impl_->shadow) {
    impl_->shadow->undefine(*address, size);
    UndefinedOrigins::instance().forget(*address, size);
  }
  publish_allocation({as, impl_->ordinal, *address, size});
  return address;
}

void Device::fill(std::uint64_t address, std::uint64_t bytes) const {
  if (impl_->options.fill) std::memset(reinterpret_cast<void*>(address), *impl_->options.fill, bytes);
}

void Device::define(std::uint64_t address, std::uint64_t bytes) const {
  if (impl_->shadow) impl_->shadow->define(address, bytes);
}

std::pair<std::uint64_t, std::uint64_t> Device::unwritten(std::uint64_t address, std::uint64_t bytes) {
  const ShadowMemory* const shadow = ShadowMemory::open();
  return shadow ? shadow->count_undefined(address, bytes) : std::pair<std::uint64_t, std::uint64_t>();
}

Result<std::uint64_t> Device::allocate_managed(std::uint64_t size) {
  if (managed_takes_memory(impl_->model) && !take_memory(size))
    return Error{
        ErrorKind::environment,
        fmt::format("{} bytes of managed memory do not fit into the memory of the {}", size, impl_->model.name), ""};
  Range attributes;
  attributes.device = impl_->ordinal;
  attributes.managed = true;
  auto address = AddressSpace::instance().allocate(size, 512, attributes);
  if (address) {
    fill(*address, size);
    publish_allocation({events::Allocation::Kind::managed, impl_->ordinal, *address, size});
  } else if (managed_takes_memory(impl_->model))
    give_memory_back(size);
  return address;
}

bool Device::free(std::uint64_t address, const char* by) {
  const auto range = AddressSpace::instance().find(address);
  if (!range || range->low != address || range->host || range->constant || range->device != impl_->ordinal)
    return false;
  const auto kind = range->managed ? events::Allocation::Kind::managed : events::Allocation::Kind::device;
  publish_deallocation({kind, impl_->ordinal, address, range->high - range->low});
  define(address, range->high - range->low);
  if (!AddressSpace::instance().release(address, by)) return false;
  if (!range->managed || managed_takes_memory(impl_->model)) give_memory_back(range->high - range->low);
  return true;
}

std::optional<Device::Allocation> Device::find(std::uint64_t address) const {
  const auto range = AddressSpace::instance().find(address);
  if (!range) return std::nullopt;
  return Allocation{range->low, range->high - range->low, range->managed, range->host, range->device};
}

void Device::register_host(void* pointer, std::uint64_t size) {
  AddressSpace::instance().register_host(reinterpret_cast<std::uint64_t>(pointer), size);
}

void Device::unregister_host(void* pointer) {
  AddressSpace::instance().unregister_host(reinterpret_cast<std::uint64_t>(pointer));
}

std::uint64_t Device::bytes_free() const {
  const std::uint64_t used = impl_->bytes_used.load();
  return used < impl_->model.memory_bytes ? impl_->model.memory_bytes - used : 0;
}
std::uint64_t Device::bytes_total() const {
  return impl_->model.memory_bytes;
}
bool Device::set_heap_size(std::uint64_t bytes) {
  const std::lock_guard lock(impl_->mutex);  // launches open the heap under this mutex
  if (impl_->heap.is_open()) return bytes == impl_->heap_size;
  impl_->heap_size = bytes;
  return true;
}
void Device::set_stack_size(std::uint64_t bytes) {
  impl_->stack_size = bytes;
}
void Device::set_printf_fifo(std::uint64_t bytes) {
  impl_->output.set_limit(bytes);
}
void Device::flush_output() {
  impl_->output.flush();
}

// ---- Events outside kernels, for observers

const events::Wants& Device::wants() const {
  return impl_->wants;
}
void Device::publish(const events::StreamWork& work) const {
  if (impl_->wants.stream_work) events::publish_stream_work(impl_->observers, work, 0);
}
void Device::publish(const events::HostWait& wait) const {
  if (impl_->wants.host_waits) events::publish_host_wait(impl_->observers, wait, 0);
}
void Device::publish(const events::HostCopy& copy) const {
  if (impl_->options.stops && AddressSpace::instance().find(copy.to.address)) {
    const std::uint64_t bytes = copy.bytes + (copy.rows - 1) * copy.to.pitch + (copy.slices - 1) * copy.to.slice;
    KeptMemory::instance().host_writes("a copy", copy.to.address, copy.to.address + bytes);
  }
  if (impl_->shadow) follow(*impl_->shadow, copy, impl_->observers);
  if (impl_->wants.host_copies) events::publish_host_copy(impl_->observers, copy, 0);
}
void Device::publish(const events::HostFill& fill) const {
  if (impl_->options.stops) {
    const std::uint64_t bytes = fill.bytes + (fill.rows - 1) * fill.pitch + (fill.slices - 1) * fill.slice;
    KeptMemory::instance().host_writes("a memset", fill.to, fill.to + bytes);
  }
  if (impl_->shadow) follow(*impl_->shadow, fill);
  if (impl_->wants.host_fills) events::publish_host_fill(impl_->observers, fill, 0);
}
void Device::publish_allocation(const events::Allocation& allocation) const {
  if (impl_->wants.allocations) events::publish_allocation(impl_->observers, allocation, 0);
}
void Device::publish(const events::InvalidFree& free) const {
  if (impl_->wants.invalid_frees) events::publish_invalid_free(impl_->observers, free, 0);
}
void Device::publish(const events::FailedAllocation& failed) const {
  if (impl_->wants.failed_allocations) events::publish_failed_allocation(impl_->observers, failed, 0);
}
void Device::publish_deallocation(const events::Allocation& allocation) const {
  if (impl_->wants.deallocations) events::publish_deallocation(impl_->observers, allocation, 0);
}

// ---- Modules

Result<LoadedModule*> Device::load(std::shared_ptr<const ptx::Module> module, const PlacedVariables& placed) {
  auto loaded = std::make_unique<LoadedModule>(std::move(module), impl_->ordinal, placed);
  if (Status status = loaded->place(); !status) return status.error();
  if (impl_->wants.allocations) loaded->for_variables([this](const events::Allocation& v) { publish_allocation(v); });
  const std::lock_guard lock(impl_->mutex);
  impl_->bytes_used += loaded->bytes();
  impl_->modules.push_back(std::move(loaded));
  return impl_->modules.back().get();
}

Result<LoadedModule*> adopt_module(Device& device, std::shared_ptr<const ptx::Module> module,
                                   std::vector<std::uint64_t> globals) {
  Device::Impl& impl = device.impl();
  auto loaded = std::make_unique<LoadedModule>(std::move(module), impl.ordinal, PlacedVariables());
  if (Status status = loaded->adopt(std::move(globals)); !status) return status.error();
  if (impl.wants.allocations) loaded->for_variables([&](const events::Allocation& v) { device.publish_allocation(v); });
  const std::lock_guard lock(impl.mutex);
  impl.modules.push_back(std::move(loaded));
  return impl.modules.back().get();
}

void Device::unload(LoadedModule* module) {
  if (impl_->options.stops) KeptMemory::instance().forget_earlier("a module was unloaded since");
  const std::lock_guard lock(impl_->mutex);
  auto& modules = impl_->modules;
  const auto it = std::find_if(modules.begin(), modules.end(), [&](const auto& m) { return m.get() == module; });
  if (it == modules.end()) return;
  impl_->bytes_used -= std::min(impl_->bytes_used.load(), module->bytes());
  if (impl_->wants.deallocations)
    module->for_variables([this](const events::Allocation& v) { publish_deallocation(v); });
  modules.erase(it);
  impl_->repeated_logs.clear();  // their kernels may be gone
}

std::optional<Device::Allocation> Device::variable(const LoadedModule* module, const std::string& name) const {
  return module->variable(name);
}

}  // namespace warpgrind::device
