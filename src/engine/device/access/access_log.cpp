// Access log: the choice of the logged blocks, and collection of their requests.
#include "device/access/access_log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "device/access/count.h"
#include "device/access/texel_requests.h"
#include "device/device_impl.h"

namespace warpgrind::device {

namespace {

// One block logs at most 1 / kParts of the total, so that a grid of few long blocks logs several of them.
constexpr std::uint64_t kParts = 8, kMiddle = 4;
// Limit of the log before block 0 has ended, for memory and time: so many times the usual size.
constexpr std::uint64_t kTooMuch = 16;
constexpr std::uint32_t kGroupsOfTexture = 8;  // a texture instruction makes several entries
// Least limit of a warp for bulk and tensor copies. Each row of a box is an entry, and one warp copies for its block.
constexpr std::uint32_t kOfCopies = 8192;

// From this many requests of block 0 on, how_logged() does not depend on their exact number.
std::uint64_t enough_requests(const Launch& launch) {
  return launch.log_size / kParts;
}

// Call if the warp's part of the log is full and the model does not need the total. Machine code then performs the
// other accesses, which may be many (one block of 10,000,000 iterations: 5x faster).
void leave_log(jit::WarpContext& context, const events::BlockLog& log) {
  Worker& worker = worker_of(context);
  if (log.block != 0 || log.accesses.size() + log.left_out >= enough_requests(*worker.launch))
    context.sites = worker.sites;
}

events::LoggedAccess* add(jit::WarpContext& context, std::uint32_t site, LaneMask mask, const AccessForm& form,
                          bool copies) {
  WarpFiber& fiber = fiber_of(context);
  events::BlockLog* log = fiber.block->log;
  if (log == nullptr) return nullptr;
  const std::uint32_t warp = context.warp;
  const Launch& launch = *fiber.worker->launch;
  const std::uint32_t most = launch.warp_log, most_of_texture = kGroupsOfTexture * most;
  const std::uint32_t limit = form.space == StateSpace::texture ? most_of_texture
                              : copies                          ? std::max(most, kOfCopies)
                                                                : most;
  if (log->taken[warp] >= limit) {
    ++log->left_out;
    if (log->taken[warp] >= (launch.logs_textures ? most_of_texture : limit)) leave_log(context, *log);
    return nullptr;
  }
  ++log->taken[warp];
  events::LoggedAccess& e = log->accesses.emplace_back();
  e.mask = mask;
  e.site = site;
  e.warp = static_cast<std::uint16_t>(warp);
  e.space = form.space;
  e.type = form.type;
  e.bytes = form.bytes;
  return &e;
}

events::LoggedAccess* add(const Access& a, StateSpace space) {
  AccessForm form = a.form;
  form.space = space;
  const bool copies = a.path == events::AccessPath::tensor_copy || a.path == events::AccessPath::bulk_copy;
  return add(*a.context, a.site, a.mask, form, copies);
}

// Stores the addresses of the active lanes as distances from the lowest. Lanes that are too far away are left out.
void put_lanes(events::BlockLog& log, events::LoggedAccess& e, const std::uint64_t* addresses, LaneMask mask) {
  std::uint64_t low = ~std::uint64_t{0};
  for (LaneMask m = mask; m != 0; m &= m - 1) low = std::min(low, addresses[std::countr_zero(m)]);
  e.base = low;
  e.lanes = true;
  e.kx = static_cast<std::int64_t>(log.offsets.size());
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const std::uint64_t distance = addresses[std::countr_zero(m)] - low;
    if (distance > std::numeric_limits<std::uint32_t>::max())
      e.mask &= ~(m & (~m + 1));
    else
      log.offsets.push_back(static_cast<std::uint32_t>(distance));
  }
}

}  // namespace

void begin_logging(Launch& launch) {
  const std::vector<SiteFacts>& sites = launch.kernel->sites;
  launch.logs_textures = std::any_of(sites.begin(), sites.end(), [](const SiteFacts& s) {
    return s.kind == SiteKind::texture || s.kind == SiteKind::surface;
  });
  const std::uint64_t parts = launch.config.cooperative ? launch.blocks : std::min(launch.blocks, kParts);
  const std::uint64_t warps = launch.blocks * launch.warps_per_block;
  launch.log_size = kLogged / launch.config.log_part;
  const std::uint64_t of_warp =
      warps <= kFewWarps ? kLoggedOfFew / launch.config.log_part / std::max<std::uint64_t>(1, warps)
                         : launch.log_size / std::max<std::uint64_t>(1, parts) / std::max(1u, launch.warps_per_block);
  launch.warp_log = static_cast<std::uint32_t>(std::max<std::uint64_t>(64, of_warp));
}

namespace {

// Whether the block is the middle of the grid or a neighbour of it. These blocks show how accesses depend on the block
// index.
bool is_in_the_middle(const Launch& launch, std::uint64_t block) {
  const Dim3& g = launch.config.grid;
  const std::uint64_t row = g.x, plane = row * g.y, middle = g.x / 2 + g.y / 2 * row + g.z / 2 * plane;
  return block == middle || (g.x > 2 && block == middle + 1) || (g.y > 2 && block == middle + row) ||
         (g.z > 2 && block == middle + plane);
}

}  // namespace

Logged how_logged(const Launch& launch, std::uint64_t block, std::uint64_t requests) {
  const std::uint64_t room = std::max(kParts, launch.log_size / std::max<std::uint64_t>(1, requests)) - kMiddle;
  if (room + kMiddle >= launch.blocks) return Logged::yes;
  const std::uint64_t sms = launch.sm_count, waves = (launch.blocks + sms - 1) / sms;
  const std::uint64_t group = launch.sm_groups.of(events::sm_of_block(block, sms));
  const std::uint64_t together = launch.sm_groups.together;
  bool chosen = false;
  if (room >= together * waves) {  // whole groups of SMs, spread over those that have blocks
    const std::uint64_t groups = (sms + together - 1) / together;
    const std::uint64_t busy = std::min(groups, std::max(launch.sm_groups.parts, launch.blocks / together));
    chosen = group * (room / (together * waves)) % busy < room / (together * waves);
  } else {  // one group, only its first waves
    chosen = group == 0 && block / sms < std::max<std::uint64_t>(1, room / together);
  }
  return chosen ? Logged::yes : is_in_the_middle(launch, block) ? Logged::beside : Logged::no;
}

std::vector<std::uint64_t> logged_blocks(const Launch& launch) {
  const std::uint64_t known = launch.first_block_requests.load(std::memory_order_acquire);
  std::vector<std::uint64_t> out;
  if (known == 0) return out;
  // In a large grid: some of the first waves, and the middle.
  const std::uint64_t first = std::min(launch.blocks, launch.log_size * launch.sm_count);
  for (std::uint64_t b = 0; b < first; ++b)
    if (how_logged(launch, b, known - 1) != Logged::no) out.push_back(b);
  const Dim3& g = launch.config.grid;
  const std::uint64_t row = g.x, plane = row * g.y, middle = g.x / 2 + g.y / 2 * row + g.z / 2 * plane;
  for (const std::uint64_t b : {middle, middle + 1, middle + row, middle + plane})
    if (b >= first && b < launch.blocks && how_logged(launch, b, known - 1) != Logged::no) out.push_back(b);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void begin_log(Worker& worker, Block& block) {
  Launch& launch = *worker.launch;
  const std::uint64_t known = launch.first_block_requests.load(std::memory_order_acquire);
  if (block.linear != 0) {
    if (known == 0 ? launch.logged.load(std::memory_order_relaxed) > kTooMuch * launch.log_size
                   : how_logged(launch, block.linear, known - 1) == Logged::no)
      return;
  }
  auto log = std::make_unique<events::BlockLog>();
  log->block = block.linear;
  log->index = {block.index[0], block.index[1], block.index[2]};
  log->taken.assign(launch.warps_per_block, 0);
  const std::uint64_t most = launch.warp_log * std::uint64_t{launch.warps_per_block};
  if (most >= kLogged) events::take_memory(*log);
  constexpr std::uint64_t kMostReserved = 1024;  // most blocks make as many requests as block 0
  if (known > 1 && known <= kMostReserved) log->accesses.reserve(std::min(known - 1, most));
  block.log = log.get();
  worker.logs.push_back(std::move(log));
}

void end_log(const Worker& worker, Block& block) {
  Launch& launch = *worker.launch;
  const std::uint64_t requests = block.log->accesses.size() + block.log->left_out;
  if (block.linear == 0) launch.first_block_requests.store(requests + 1, std::memory_order_release);
  launch.logged.fetch_add(block.log->accesses.size(), std::memory_order_relaxed);
  block.log = nullptr;
}

void log_affine(const Access& a, const AffineAddresses& addresses) {
  if (!is_logged(a.form.space)) return;
  events::LoggedAccess* e = add(a, a.form.space);
  if (e == nullptr) return;
  e->base = addresses.base;
  e->kx = addresses.kx;
  e->ky = addresses.ky;
}

bool count_logged(jit::WarpContext& context, std::uint32_t site, const AffineAddresses& addresses, LaneMask mask) {
  const AccessForm& form = launch_of(context).kernel->sites[site].form;
  if (!is_logging(context) || !is_logged(form.space) || mask == 0) return false;
  count_masked_alone(context, site, addresses.base, mask);
  events::LoggedAccess* e = add(context, site, mask, form, /*copies=*/false);
  if (e == nullptr) return true;
  e->base = addresses.base;
  e->kx = addresses.kx;
  e->ky = addresses.ky;
  return true;
}

namespace {

// Logs contiguous ranges of lanes: entries of up to 32 sectors each. Together they are one request.
void log_stretches(const Access& a) {
  events::BlockLog* const log = fiber_of(*a.context).block->log;
  bool first = !a.continues;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t end = a.addresses[lane] + a.bytes_of(lane);
    for (std::uint64_t at = a.addresses[lane] & ~std::uint64_t{kSectorBytes - 1}; at < end;
         at += kWarpSize * kSectorBytes) {
      events::LoggedAccess* e = add(a, a.form.space);
      if (e == nullptr) return;
      const std::uint64_t sectors = std::min<std::uint64_t>(kWarpSize, (end - at + kSectorBytes - 1) / kSectorBytes);
      std::uint64_t addresses[kWarpSize];
      for (std::uint64_t k = 0; k < sectors; ++k) addresses[k] = at + k * kSectorBytes;
      e->mask = sectors == kWarpSize ? kFullMask : (LaneMask{1} << sectors) - 1;
      e->first = std::exchange(first, false);
      put_lanes(*log, *e, addresses, e->mask);
    }
    first = a.path == events::AccessPath::bulk_copy;  // each lane's copy is a request
  }
}

}  // namespace

void log_lanes(const Access& a) {
  if (!is_logged(a.form.space) || a.mask == 0) return;
  if (a.path == events::AccessPath::tensor_copy) return log_stretches(a);  // counted as a whole by count_box()
  if (!a.counted) return;
  if (a.path == events::AccessPath::bulk_copy) return log_stretches(a);
  events::LoggedAccess* e = add(a, a.form.space);
  if (e != nullptr) put_lanes(*fiber_of(*a.context).block->log, *e, a.addresses, a.mask);
}

void log_texels(const Access& a, const Texels& texels) {
  events::BlockLog* log = fiber_of(*a.context).block->log;
  if (log == nullptr) return;
  bool first = true;
  each_texel_request(texels, a.group, [&](const std::uint64_t* at, unsigned n, bool) {
    events::LoggedAccess* e = add(a, StateSpace::texture);
    if (e == nullptr) return;
    e->mask = n == kWarpSize ? kFullMask : (LaneMask{1} << n) - 1;
    e->first = first;
    first = false;
    put_lanes(*log, *e, at, e->mask);
  });
}

namespace {

// Makes addresses independent of the host's memory layout, which differs from run to run and would change the cache
// sets of lines. Addresses are counted from the beginning of the virtual GPU's memory and of the arrays.
void leave_host_out(events::AccessLog& log) {
  constexpr std::uint64_t kPage = 4096;
  AddressSpace& space = AddressSpace::instance();
  std::uint64_t arrays = ~std::uint64_t{0};
  for (const events::BlockLog& b : log.blocks)
    for (const events::LoggedAccess& e : b.accesses)
      if (e.space == StateSpace::texture && !space.inside_reserved(e.base)) arrays = std::min(arrays, e.base);
  const std::uint64_t origin = space.reserved_base();
  for (events::BlockLog& b : log.blocks)
    for (events::LoggedAccess& e : b.accesses) {
      if (e.space == StateSpace::local) continue;
      if (space.inside_reserved(e.base))
        e.base -= origin;
      else if (e.space == StateSpace::texture)
        e.base -= arrays / kPage * kPage;
    }
  for (auto& [low, high] : log.ranges)
    if (high != 0 && space.inside_reserved(low)) {
      low -= origin;
      high -= origin;
    }
}

// Looks up the allocations that the sites accessed, while the log still holds addresses of this process.
void note_memory(const Launch& launch, events::AccessLog& log) {
  struct Lanes {
    std::uint64_t all = 0, host = 0, peer = 0;
    const Range* last = nullptr;
  };
  const std::size_t sites = launch.kernel->sites.size();
  std::vector<Lanes> lanes(sites);
  log.ranges.resize(sites);
  for (const events::BlockLog& b : log.blocks)
    for (const events::LoggedAccess& e : b.accesses) {
      if (e.space == StateSpace::local) continue;
      Lanes& of = lanes[e.site];
      if (of.last == nullptr || !of.last->holds(e.base, e.base)) of.last = launch.ranges->find(e.base);
      const auto active = static_cast<std::uint64_t>(std::popcount(e.mask));
      of.all += active;
      if (of.last == nullptr) continue;
      auto& range = log.ranges[e.site];
      if (range.second == 0) range = {of.last->low, of.last->high};
      if (of.last->managed) continue;
      if (of.last->host)
        of.host += active;
      else if (of.last->device != launch.device->ordinal())
        of.peer += active;
    }
  log.far.resize(sites);
  for (std::size_t s = 0; s < sites; ++s)
    if (lanes[s].all != 0)
      log.far[s] = {static_cast<double>(lanes[s].host) / static_cast<double>(lanes[s].all),
                    static_cast<double>(lanes[s].peer) / static_cast<double>(lanes[s].all)};
}

}  // namespace

std::shared_ptr<const events::AccessLog> collect_log(Launch& launch,
                                                     const std::vector<std::unique_ptr<Worker>>& workers) {
  if (!launch.logs) return nullptr;
  const std::uint64_t known = launch.first_block_requests.load();
  auto out = std::make_shared<events::AccessLog>();
  for (unsigned i = 0; i < launch.workers; ++i) {
    for (auto& log : workers[i]->logs)
      if (const Logged how = known != 0 ? how_logged(launch, log->block, known - 1) : Logged::no; how != Logged::no) {
        log->beside = how == Logged::beside;
        out->blocks.push_back(std::move(*log));
      }
    workers[i]->logs.clear();
  }
  std::sort(out->blocks.begin(), out->blocks.end(),
            [](const events::BlockLog& a, const events::BlockLog& b) { return a.block < b.block; });
  note_memory(launch, *out);
  leave_host_out(*out);
  out->grid = launch.config.grid;
  out->warps_per_block = launch.warps_per_block;
  out->row = jit::row_length(launch.kernel->shape);
  out->local_bytes = launch.local_size;
  return out;
}

RepeatedLogs::Key RepeatedLogs::key_of(const Launch& launch, const std::vector<std::uint8_t>& arguments) {
  const Dim3 &grid = launch.config.grid, &block = launch.config.block, &cluster = launch.config.cluster;
  const std::uint64_t shape[] = {reinterpret_cast<std::uint64_t>(launch.kernel),
                                 grid.x,
                                 grid.y,
                                 grid.z,
                                 block.x,
                                 block.y,
                                 block.z,
                                 cluster.x,
                                 cluster.y,
                                 cluster.z,
                                 launch.config.dynamic_shared};
  Key key(reinterpret_cast<const char*>(shape), sizeof shape);
  const std::size_t first = key.size();
  key.append(reinterpret_cast<const char*>(arguments.data()), arguments.size());
  {
    const std::lock_guard lock(mutex_);
    if (logs_.contains(key) || ++new_keys_[launch.kernel] <= kOften) return key;
  }
  const std::vector<std::uint8_t>& deciding = launch.kernel->deciding_bytes();
  for (std::size_t b = 0; b < std::min(arguments.size(), deciding.size()); ++b)
    key[first + b] = static_cast<char>(key[first + b] & deciding[b]);
  return key;
}

std::shared_ptr<const events::AccessLog> RepeatedLogs::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = logs_.find(key);
  return it == logs_.end() || it->second.times < kSure ? nullptr : it->second.log;
}

void RepeatedLogs::keep(const Launch& launch, const Key& key, std::shared_ptr<const events::AccessLog> log,
                        std::uint64_t digest) {
  const bool regular =
      std::all_of(log->blocks.begin(), log->blocks.end(), [](const events::BlockLog& b) { return b.offsets.empty(); });
  const std::lock_guard lock(mutex_);
  if (varying_.contains(launch.kernel) || (logs_.size() >= kMost && !logs_.contains(key))) return;
  Kept& kept = logs_[key];
  kept.times = regular ? kSure : kept.digest == digest ? kept.times + 1 : 1;
  kept.log = std::move(log);
  kept.digest = digest;
}

void RepeatedLogs::compare(const Launch& launch, const Key& key, std::uint64_t digest) {
  const std::lock_guard lock(mutex_);
  const auto it = logs_.find(key);
  if (it == logs_.end() || it->second.digest == digest) return;
  varying_.insert(launch.kernel);
  std::erase_if(logs_, [&](const auto& entry) {
    const KernelRecord* of = nullptr;
    std::memcpy(&of, entry.first.data(), sizeof of);
    return of == launch.kernel;
  });
}

}  // namespace warpgrind::device
