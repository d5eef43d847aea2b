// Counts, events and faults of tensor copies. What they move: tests/tensor_copies.
#include <cstring>

#include "device_fixture.h"
#include "gpu/tensor_box.h"
#include "gpu/tensor_map.h"

namespace warpgrind::device {
namespace {

// 40 columns and 20 rows of floats, 192 bytes from row to row; a box of 16 columns and 8 rows.
TensorMap matrix(std::uint64_t address) {
  TensorMap map;
  map.element = TensorElement::f32;
  map.rank = 2;
  map.address = address;
  map.sizes = {39, 19};
  map.strides = {192};
  map.box = {16, 8, 1};
  return map;
}

struct TensorKernel {
  // `copy` runs in thread 0 with the map's address in %m, the buffer in %s and an mbarrier that expects 512 bytes.
  explicit TensorKernel(const std::string& copy, events::Observer* observer = nullptr) {
    Options options;
    options.workers = 1;
    device = std::make_unique<Device>(0, **find_gpu_model("h200"), options);
    if (observer) device->add_observer(observer);
    auto parsed = ptx::parse(R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 data)
{
  .shared .align 128 .b8 s[2048];
  .shared .align 8 .b8 bar[8];
  .reg .b32 %s, %t; .reg .b64 %m, %d; .reg .pred %p;
  mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %d, [data];
  mov.u32 %s, s; mov.u32 %t, %tid.x;
  setp.ne.u32 %p, %t, 0;
  @%p bra END;
  mbarrier.init.shared.b64 [bar], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
)" + copy + "\nEND: ret;\n}\n",
                             "test.ptx");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    if (!parsed.ok()) return;
    module = *parsed;
    loaded = *device->load(module);
    data = *device->allocate(4096);
    std::memset(reinterpret_cast<void*>(data), 1, 4096);
  }
  LaunchResult run(const TensorMap& map) {
    auto bytes = tensor_map_bytes(map);
    void* parameters[] = {bytes.data(), &data};
    LaunchConfig config;
    config.block.x = 32;
    auto result = device->launch(loaded, 0, config, parameters);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.take() : LaunchResult{};
  }
  std::string fault(const TensorMap& map) {
    const LaunchResult r = run(map);
    return r.fault ? r.fault->message : "none";
  }
  std::unique_ptr<Device> device;
  std::shared_ptr<const ptx::Module> module;
  LoadedModule* loaded = nullptr;
  std::uint64_t data = 0;
};

const char* const kLoad =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {8, 15}], [bar];";
const char* const kStore = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m, {8, 15}], [%s];";

TEST(TensorCopies, ACopyIsOneRequestOfEachMemory) {
  TensorKernel in(kLoad);
  const events::SiteCounts load = total(in.run(matrix(in.data)), SiteKind::bulk_copy);
  EXPECT_EQ(load.global_requests, 1u);
  EXPECT_EQ(load.global.sectors, 10u);  // 64 bytes of each of the rows 15 to 19; the others are outside
  EXPECT_EQ(load.global.bytes_asked, 320u);
  EXPECT_EQ(load.shared_requests, 1u);
  EXPECT_EQ(load.shared.bytes_asked, 512u);
  EXPECT_EQ(load.shared.wavefronts, 4u);

  TensorKernel out(kStore);
  const events::SiteCounts store = total(out.run(matrix(out.data)), SiteKind::bulk_copy);
  EXPECT_EQ(store.global.sectors, 10u);
  EXPECT_EQ(store.shared.wavefronts, 4u);
}

struct Recorder : events::Observer {
  events::Wants wants() const override {
    events::Wants w;
    w.accesses = w.mbarriers = true;
    return w;
  }
  void on_access(const events::Access& a, unsigned) override {
    if (a.path == events::AccessPath::tensor_copy) seen.push_back(a);
  }
  void on_mbarrier(const events::MBarrier& m, unsigned) override {
    if (m.operation == events::MBarrierOperation::complete) completed += m.bytes[0];
  }
  std::vector<events::Access> seen;
  std::uint64_t completed = 0;
};

TEST(TensorCopies, ObserversSeeEachRowAndTheBox) {
  Recorder recorder;
  TensorKernel in(kLoad, &recorder);
  in.run(matrix(in.data));
  ASSERT_EQ(recorder.seen.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(recorder.seen[i].space, i < 5 ? StateSpace::global : StateSpace::shared);
    EXPECT_EQ(recorder.seen[i].type, i < 5 ? AccessType::load : AccessType::store);
    EXPECT_EQ(recorder.seen[i].continues, i != 0);
  }
  EXPECT_EQ(recorder.completed, 512u);  // of the whole box
}

// CUTLASS announces 4 or 6 bits of each element (sizeof_bits of its unpacksmem types, examples 72c and 84b); in shared
// memory 16 elements take 16 bytes.
TEST(TensorCopies, MbarriersCountNoGapsBetweenPackedElements) {
  for (const auto [element, bits] :
       {std::pair{TensorElement::u4_16_align_16, 4u}, {TensorElement::u6_16_align_16, 6u}}) {
    Recorder recorder;
    TensorKernel in(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {0, 0}], [bar];",
        &recorder);
    TensorMap map = matrix(in.data);
    map.element = element;
    map.sizes = {127, 7};
    map.strides = {96};
    map.box = {128, 4, 1};
    const LaunchResult result = in.run(map);
    EXPECT_FALSE(result.fault) << result.fault->message;
    EXPECT_EQ(recorder.completed, 128u * 4 * bits / 8);
  }
}

// CUTLASS (make_tma_copy_desc in copy_traits_sm90_tma.hpp) does this to maps of tensors of less than 128 KiB.
TEST(TensorCopies, MapsStayTheSameIfCutlassClearsItsBit) {
  for (unsigned bit = 0; bit < 64; ++bit)
    for (std::uint8_t rank = 1; rank <= kMaxTensorRank; ++rank)
      for (const TensorMapKind kind : {TensorMapKind::tiled, TensorMapKind::im2col, TensorMapKind::im2col_wide}) {
        TensorMap map = matrix(std::uint64_t{1} << bit);
        map.rank = rank;
        map.kind = kind;
        map.element = TensorElement::u6_16_align_16;
        map.interleave = TensorInterleave::b32;
        auto bytes = tensor_map_bytes(map);
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + 8, sizeof word);
        word &= ~(std::uint64_t{1} << 21);
        std::memcpy(bytes.data() + 8, &word, sizeof word);
        EXPECT_EQ(tensor_map_of(bytes.data()), map) << "address bit " << bit << ", rank " << unsigned{rank};
      }
}

// 128 images of 9 x 7 pixels with 64 channels of 16 bits: the example of the PTX manual for im2col::w, which begins at
// image 7, row 2, column 3 and loads two pixels of a halo.
TensorMap images() {
  TensorMap map;
  map.kind = TensorMapKind::im2col_wide;
  map.element = TensorElement::f16;
  map.rank = 4;
  map.sizes = {63, 6, 8, 127};
  map.strides = {128, 128 * 7, 128 * 7 * 9};
  map.swizzle = TensorSwizzle::b128;
  map.channels_per_pixel = 64;
  map.pixels_per_column = 128;
  return map;
}

TensorCopy along_width(TensorMode mode, std::uint16_t halo) {
  TensorCopy copy;
  copy.mode = mode;
  copy.coordinates = {0, 3, 2, 7};
  copy.offsets = {halo, 0};
  return copy;
}

// Address of the pixel that lies `steps` pixels after the first one: columns 3 to 6 of image 7, then 0 to 6 of the
// next.
std::uint64_t address_after(std::uint64_t steps) {
  const std::uint64_t columns = 3 + steps;
  return columns % 7 * 128 + 2 * (128 * 7) + (7 + columns / 7) * (128 * 7 * 9);
}

TEST(TensorCopies, ColumnsAlongWidthGoOnInTheNextImage) {
  std::vector<TensorRun> runs;
  TensorCopy copy = along_width(TensorMode::im2col_w, 2);
  EXPECT_EQ(tensor_box(images(), copy).bytes, 130u * 128);
  tensor_runs(images(), copy, runs);
  ASSERT_EQ(runs.size(), 130u);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].address, address_after(i));
    EXPECT_EQ(runs[i].shared, i * 128);
  }
  TensorMap map = images();
  map.wide_mode = TensorWideMode::w128;
  map.pixels_per_column = 5;  // not used
  copy = along_width(TensorMode::im2col_w_128, 2);
  EXPECT_EQ(tensor_box(map, copy).bytes, (128u + 4 * 2) * 128);
  tensor_runs(map, copy, runs);
  ASSERT_EQ(runs.size(), 136u);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(runs[i].address, address_after(i));
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(runs[128 + i].address, address_after(32 * (i % 4 + 1) + i / 4));
}

TEST(TensorCopies, ColumnsAlongWidthHaveRules) {
  TensorMap map = images();
  EXPECT_EQ(tensor_problem(map, TensorMode::im2col_w, 4), "");
  EXPECT_EQ(tensor_problem(map, TensorMode::im2col_w_128, 4), "its mode is W, for .im2col::w");
  EXPECT_NE(tensor_problem(map, TensorMode::im2col, 4).find("cuTensorMapEncodeIm2colWide"), std::string::npos);
  map.wide_mode = TensorWideMode::w128;
  EXPECT_EQ(tensor_problem(map, TensorMode::im2col_w, 4), "its mode is W128, for .im2col::w::128");
  map.interleave = TensorInterleave::b16;
  EXPECT_NE(tensor_problem(map, TensorMode::im2col_w_128, 4).find("interleaved"), std::string::npos);

  TensorCopy copy = along_width(TensorMode::im2col_w, 0);
  copy.coordinates[1] = -4;  // the first pixel may lie on the left of the bounding box
  EXPECT_EQ(coordinate_problem(images(), copy), "");
  copy.coordinates[1] = 7;
  EXPECT_EQ(coordinate_problem(images(), copy), "coordinate 1 is 7; the bounding box of the map ends at 6");
}

TEST(TensorCopies, FaultsNameWhatIsWrong) {
  TensorKernel load(kLoad);
  TensorMap map = matrix(load.data);
  map.magic = 0;
  EXPECT_NE(load.fault(map).find("there is no tensor map at this address"), std::string::npos);
  map = matrix(load.data);
  map.rank = 3;
  EXPECT_NE(load.fault(map).find("it has 3 dimensions, the copy 2"), std::string::npos);
  map = matrix(load.data);
  map.kind = TensorMapKind::im2col;
  EXPECT_NE(load.fault(map).find("this copy needs one of cuTensorMapEncodeTiled"), std::string::npos);
  map = matrix(load.data + (std::uint64_t{1} << 40));
  EXPECT_NE(load.fault(map).find("tensor copy's read of 64 bytes"), std::string::npos);

  TensorKernel misaligned(
      "add.u32 %s, %s, 64; "
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {8, 15}], [bar];");
  EXPECT_NE(misaligned.fault(matrix(misaligned.data)).find("offset 64 of shared memory"), std::string::npos);
  TensorKernel between(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {3, 0}], [bar];");
  EXPECT_NE(between.fault(matrix(between.data)).find("its first coordinate, 3,"), std::string::npos);
  TensorKernel negative("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m, {0, -1}], [%s];");
  EXPECT_NE(negative.fault(matrix(negative.data)).find("stores take no negative"), std::string::npos);
}

}  // namespace
}  // namespace warpgrind::device
