// Variants of the last rungs of image processing: blur by texture, 5 x 5 median, cosine transform, matching.
#include <cstring>

#include "harness/strips.h"
#include "image/blur_gather.cuh"
#include "image/dct_registers.cuh"
#include "image/match_tensor.cuh"
#include "image/match_warpgroups.cuh"
#include "image/median.cuh"
#include "image/median_tiles.cuh"
#include "image/pitched.h"
#include "image/reference.h"
#include "texture/objects.h"
#include "variants/bench.h"
#include "variants/npp.h"

namespace {

using variants::Bench;

template <class Kernel>
int blocks_an_sm(Kernel kernel, int threads, int shared = 0) {
  int each = 0;
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared));
  return each;
}

class Pictures {
 public:
  Pictures(Bench& bench, int rows, int columns)
      : bench_(bench),
        rows_(rows),
        columns_(columns),
        picture_(image::generate(rows, columns)),
        bytes_host_(image::grey_bytes(picture_)),
        size_(std::to_string(rows) + "x" + std::to_string(columns)),
        grid_(lab::blocks(columns, 32), lab::blocks(rows, 8)),
        in_(bytes_host_),
        out_(bytes_host_.size()),
        expected_(bytes_host_.size()),
        rows_in_(rows, columns, bytes_host_),
        rows_out_(rows, columns) {}

  void medians() {
    const auto network = [&](lab::DeviceArray<unsigned char>& to) {
      image::median_network<2><<<grid_, kBlock>>>(in_.data(), to.data(), rows_, columns_);
    };
    network(expected_);
    CHECK_KERNEL();
    const auto same = [&] { return variants::different(expected_.data(), out_.data(), out_.count()) == 0; };
    const double pixels = 1.0 * rows_ * columns_;
    out_.poison();
    bench_.run(
        "median5", "network", size_, pixels, "Gpixel/s", [&] { network(out_); }, same);
    const auto tiles = [&](auto kernel) {
      const int each = blocks_an_sm(kernel, 32 * image::kMedianWarps);
      for (const int waves : {1, 2, 4}) {
        lab::Strips cut = lab::cut_strips(rows_, columns_, image::kMedianStrip, image::kMedianWarps, each, waves);
        cut.chunk += cut.chunk % 2;
        rows_out_.poison();
        bench_.run(
            "median5", "tiles w" + std::to_string(waves) + " " + std::to_string(each * image::kMedianWarps) + "/SM",
            size_, pixels, "Gpixel/s",
            [=, this] {
              kernel<<<cut.grid, 32 * image::kMedianWarps>>>(rows_in_.bytes(), rows_out_.bytes(), rows_, columns_,
                                                             cut.chunk);
            },
            [&] { return out_.upload(rows_out_.host()), same(); });
      }
    };
    tiles(image::median_tiles);
    const auto buffer_size = npp::find<npp::MedianSize>(kFilters, "nppiFilterMedianBorderGetBufferSize_8u_C1R_Ctx");
    const auto median = npp::find<npp::Median>(kFilters, "nppiFilterMedianBorder_8u_C1R_Ctx");
    if (!buffer_size || !median) return;
    unsigned need = 0;
    buffer_size(all(), {5, 5}, &need, npp::context());
    lab::DeviceArray<unsigned char> buffer(need + 1);
    out_.poison();
    bench_.run(
        "median5", "NPP", size_, pixels, "Gpixel/s",
        [&] {
          median(in_.data(), columns_, all(), {0, 0}, out_.data(), columns_, all(), {5, 5}, {2, 2}, buffer.data(),
                 npp::kReplicate, npp::context());
        },
        same);
  }

  void transforms() {
    const int high = lab::blocks(rows_, 8) * 8, wide = lab::blocks(columns_, 8) * 8;
    const image::Transform transform;
    float table[64];
    for (int i = 0; i < 64; ++i) table[i] = static_cast<float>(transform.cosine(i / 8, i % 8));
    const std::vector<int> quantiser = image::quantisers_of(50);
    const std::vector<float> divisors(quantiser.begin(), quantiser.end());
    CHECK_CUDA(cudaMemcpyToSymbol(image::cosines, table, sizeof table));
    CHECK_CUDA(cudaMemcpyToSymbol(image::quantisers, divisors.data(), divisors.size() * sizeof(float)));
    lab::DeviceArray<short> coefficients(size_t(high) * wide), exact(coefficients.count());
    const dim3 grid(lab::blocks(wide, 32), lab::blocks(high, 8));
    const auto shared = [&](lab::DeviceArray<short>& c, lab::DeviceArray<unsigned char>& out) {
      image::dct_shared<<<grid, kBlock>>>(in_.data(), c.data(), out.data(), rows_, columns_, wide);
    };
    shared(exact, expected_);
    CHECK_KERNEL();
    // Ties may round either way, and then the pixels of the block differ too.
    const auto close = [&] {
      const auto c = variants::different(exact.data(), coefficients.data(), exact.count());
      const auto p = variants::different(expected_.data(), out_.data(), out_.count());
      std::fprintf(stderr, "dct: %llu coefficients and %llu pixels of %zu differ\n", c, p, out_.count());
      return variants::different(exact.data(), coefficients.data(), exact.count(), 1) == 0 &&
             c * 1e3 <= exact.count() && p * 30 <= out_.count();
    };
    const double moved = 2.0 * rows_ * columns_ + 2.0 * exact.count();
    const auto poison = [&] { out_.poison(), rows_out_.poison(), coefficients.poison(); };
    poison();
    bench_.run(
        "dct", "shared", size_, moved, "GB/s", [&] { shared(coefficients, out_); }, close);
    image::Factors by;
    for (int i = 0; i < 64; ++i) {
      const auto scale = [](int k) { return k ? std::sqrt(2.0) * std::cos(k * M_PI / 16) : 1.0; };
      const double s = scale(i / 8) * scale(i % 8);
      by.forward[i] = static_cast<float>(1 / (8 * s * quantiser[i])),
      by.back[i] = static_cast<float>(quantiser[i] * s / 8);
    }
    const auto kernel = image::dct_registers;
    const int each = blocks_an_sm(kernel, 128), sms = lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const int all = lab::blocks(long(high) * wide / 64, 128);
    for (const int waves : {1, 2, 100}) {
      const int blocks = std::min(all, each * sms * waves);
      poison();
      bench_.run(
          "dct", "registers w" + std::to_string(waves) + " " + std::to_string(each * 4) + "/SM", size_, moved, "GB/s",
          [=, this, &coefficients] {
            kernel<<<blocks, 128>>>(rows_in_.bytes(), coefficients.data(), rows_out_.bytes(), by, rows_, columns_,
                                    wide);
          },
          [&] { return out_.upload(rows_out_.host()), close(); });
    }
  }

  void matches() {
    image::Plane<unsigned char> piece{std::min(rows_, image::kPiece), std::min(columns_, image::kPiece), {}};
    const int top = (rows_ - piece.rows) / 3, left = (columns_ - piece.columns) / 3;
    for (int y = 0; y < piece.rows; ++y)
      for (int x = 0; x < piece.columns; ++x)
        piece.values.push_back(bytes_host_[size_t(top + y) * columns_ + left + x]);
    unsigned sum = 0, squares = 0;
    for (const unsigned v : piece.values) sum += v, squares += v * v;
    const double spread = double(piece.values.size()) * squares - double(sum) * sum;
    const image::Piece shape = {piece.rows, piece.columns, sum,
                                spread > 0 ? static_cast<float>(1 / std::sqrt(spread)) : 0};
    CHECK_CUDA(cudaMemcpyToSymbol(image::piece_pixels, piece.values.data(), piece.values.size()));
    const int high = rows_ - piece.rows + 1, wide = columns_ - piece.columns + 1;
    lab::DeviceArray<float> out(size_t(high) * wide), expected(out.count());
    const dim3 grid(lab::blocks(wide, 32), lab::blocks(high, 8));
    const auto constant = [&](lab::DeviceArray<float>& to) {
      image::match_constant<<<grid, kBlock>>>(in_.data(), to.data(), shape, rows_, columns_);
    };
    constant(expected);
    CHECK_KERNEL();
    // Tolerance: the sums are exact; each score is rounded 6 times.
    const auto same = [&] {
      return variants::different(expected.data(), out.data(), out.count(), 14 * lab::kUnitFloat) == 0;
    };
    const double moved = 1.0 * rows_ * columns_ + 4.0 * out.count();
    out.poison();
    bench_.run(
        "match", "constant", size_, moved, "GB/s", [&] { constant(out); }, same);
    image::PitchedPlane<float> scores(high, wide);
    const auto tensor = [&](const std::string& name, auto kernel, int warps) {
      const int each = blocks_an_sm(kernel, 32 * warps);
      for (const int waves : {1, 2}) {
        const lab::Strips cut = lab::cut_strips(high, wide, image::kMatchStrip, warps, each, waves);
        scores.poison();
        bench_.run(
            "match", name + " w" + std::to_string(waves) + " " + std::to_string(each * warps) + "/SM", size_, moved,
            "GB/s",
            [=, this, &scores] {
              kernel<<<cut.grid, 32 * warps>>>(rows_in_.bytes(), scores.data(), scores.pitch(), shape, rows_, columns_,
                                               cut.chunk);
            },
            [&] { return out.upload(scores.host()), same(); });
      }
    };
    tensor("tensor ahead 3", image::match_tensor<4, 3>, 4);
    const lab::DeviceArray<unsigned char> pixels(piece.values);
    CHECK_CUDA(cudaFuncSetAttribute(image::match_warpgroups, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    sizeof(image::MatchShared)));
    lab::Strips cut = lab::cut_strips(high, wide, image::kMatchStrip, image::kTeams * image::kSlots, 1, 1);
    scores.poison();
    bench_.run(
        "match", "warpgroups", size_, moved, "GB/s",
        [=, this, &scores, &pixels] {
          image::match_warpgroups<<<cut.grid, image::kTeams * image::kTeamThreads, sizeof(image::MatchShared)>>>(
              rows_in_.bytes(), pixels.data(), scores.data(), scores.pitch(), shape, static_cast<float>(spread), rows_,
              columns_, cut.chunk);
        },
        [&] { return out.upload(scores.host()), same(); });
    const auto buffer_size =
        npp::find<npp::MatchSize>(kStatistics, "nppiValidNormLevelGetBufferHostSize_8u32f_C1R_Ctx");
    const auto match = npp::find<npp::Match>(kStatistics, "nppiCrossCorrValid_NormLevel_8u32f_C1R_Ctx");
    if (!buffer_size || !match) return;
    size_t need = 0;
    buffer_size(all(), &need, npp::context());
    lab::DeviceArray<unsigned char> buffer(need + 1);
    out.poison();
    bench_.run(
        "match", "NPP", size_, moved, "GB/s",
        [&] {
          match(in_.data(), columns_, all(), pixels.data(), piece.columns, {piece.columns, piece.rows}, out.data(),
                4 * wide, buffer.data(), npp::context());
        },
        [&] { return variants::different(expected.data(), out.data(), out.count(), 1e-4) == 0; });
  }

  void blurs() {
    using namespace image;
    std::vector<float> bright;
    for (const unsigned char v : bytes_host_) bright.push_back(v / 255.0f);
    const std::vector<double> line = gaussian(kRadius);
    std::vector<float> square;
    for (const double y : line)
      for (const double x : line) square.push_back(static_cast<float>(y * x));
    CHECK_CUDA(cudaMemcpyToSymbol(filter_2d, square.data(), square.size() * sizeof(float)));
    Weights<kRadius> weights;
    std::copy(line.begin(), line.end(), weights.w);
    const lab::DeviceArray<float> in(bright);
    lab::DeviceArray<float> out(bright.size()), expected(bright.size());
    const Array array(bright, columns_, rows_, cudaArrayTextureGather);
    const Texture texture(array.resource(), {});
    blur_texture<<<grid_, kBlock>>>(texture, expected.data(), rows_, columns_);
    CHECK_KERNEL();
    const auto same = [&] {
      return variants::different(expected.data(), out.data(), out.count(), 104 * lab::kUnitFloat) == 0;
    };
    const double moved = 8.0 * rows_ * columns_;
    const auto run = [&](const std::string& name, auto launch) {
      out.poison();
      bench_.run("blur7", name, size_, moved, "GB/s", launch, same);
    };
    run("texture", [&] { blur_texture<<<grid_, kBlock>>>(texture, out.data(), rows_, columns_); });
    using Strip = BlurStrip<kRadius, 4>;
    const auto stream = columns_ % 4 == 0 ? blur_stream<Strip, true> : blur_stream<Strip, false>;
    const lab::Strips cut = lab::cut_strips(rows_, columns_, Strip::kWidth, Strip::kWarps,
                                            blocks_an_sm(stream, 32 * Strip::kWarps, Strip::kShared), 1);
    run("stream", [&] {
      stream<<<cut.grid, 32 * Strip::kWarps, Strip::kShared>>>(in.data(), out.data(), weights, rows_, columns_,
                                                               cut.chunk);
    });
    const auto gather = [&](const char* name, auto kernel, int warps) {
      const int each = blocks_an_sm(kernel, 32 * warps);
      for (const int waves : {1, 2}) {
        const lab::Strips cut = lab::cut_strips(rows_, columns_, kGatherStrip, warps, each, waves);
        run(std::string(name) + " w" + std::to_string(waves) + " " + std::to_string(each * warps) + "/SM",
            [=, &out, &texture, this] {
              kernel<<<cut.grid, 32 * warps>>>(texture, out.data(), weights, rows_, columns_, cut.chunk);
            });
      }
    };
    const bool wide = columns_ % 4 == 0;
    gather("gather ahead 1", wide ? blur_gather<kRadius, 1, 4, true> : blur_gather<kRadius, 1, 4, false>, 4);
    gather("gather ahead 2", wide ? blur_gather<kRadius, 2, 4, true> : blur_gather<kRadius, 2, 4, false>, 4);
    gather("gather ahead 3", wide ? blur_gather<kRadius, 3, 4, true> : blur_gather<kRadius, 3, 4, false>, 4);
    const auto gauss = npp::find<npp::Gauss>(kFilters, "nppiFilterGaussAdvancedBorder_32f_C1R_Ctx");
    if (!gauss) return;
    const lab::DeviceArray<float> taps(std::vector<float>(line.begin(), line.end()));
    run("NPP", [&] {
      gauss(in.data(), 4 * columns_, all(), {0, 0}, out.data(), 4 * columns_, all(), kWidth, taps.data(),
            npp::kReplicate, npp::context());
    });
  }

 private:
  static constexpr char kFilters[] = "libnppif.so.13", kStatistics[] = "libnppist.so.13";
  npp::Size all() const { return {columns_, rows_}; }

  const dim3 kBlock{32, 8};
  Bench& bench_;
  int rows_, columns_;
  image::Picture picture_;
  std::vector<unsigned char> bytes_host_;
  std::string size_;
  dim3 grid_;
  lab::DeviceArray<unsigned char> in_, out_, expected_;
  image::PitchedPlane<unsigned char> rows_in_, rows_out_;
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv);
  struct Size {
    int rows, columns;
  };
  for (const auto& [rows, columns] : bench.small() ? std::vector<Size>{{64, 96}, {37, 131}, {150, 260}, {5, 3}}
                                                   : std::vector<Size>{{2160, 3840}, {1000, 777}, {4320, 7680}}) {
    Pictures pictures(bench, rows, columns);
    if (bench.wanted("median5")) pictures.medians();
    if (bench.wanted("dct")) pictures.transforms();
    if (bench.wanted("match")) pictures.matches();
    if (bench.wanted("blur7")) pictures.blurs();
  }
  return bench.finish();
}
