// Image processing: pictures in and out as PNG, and the cost of each operation in memory accesses.
#include <dlfcn.h>

#include <string>

#include "harness/harness.h"
#include "harness/strips.h"
#include "image/blur_gather.cuh"
#include "image/blur_stream.cuh"
#include "image/convolution.cuh"
#include "image/dct.cuh"
#include "image/dct_registers.cuh"
#include "image/histogram.cuh"
#include "image/histogram_lanes.cuh"
#include "image/match_tensor.cuh"
#include "image/match_warpgroups.cuh"
#include "image/matching.cuh"
#include "image/median.cuh"
#include "image/median_tiles.cuh"
#include "image/picture.h"
#include "image/pitched.h"
#include "image/png.h"
#include "image/point.cuh"
#include "image/reference.h"
#include "texture/objects.h"

namespace {

using namespace image;

const lab::Topic kTopic = {
    .name = "image",
    .title = "image processing: points, convolution, histogram, median, compression, matching",
    .document = "000 (COSC 407)",
    .shows =
        "Neighbouring pixels share their neighbours: constant memory for the filter, shared memory for the tile, "
        "registers for a sort, private histograms against collisions.",
    .size_names = "ROWSxCOLUMNS",
    .quick_sizes = "150x200",
    .full_sizes = "2160x3840,1000x777",
    .rungs = {{"desaturate / packed", "3 bytes per pixel, three 1-byte loads"},
              {"desaturate / word", "4 bytes per pixel, one load"},
              {"negative / word", "255 - x, 4 bytes per thread"},
              {"negative / wide", "16 bytes a thread"},
              {"hue shift", "RGB to HSV, hue shift, and back"},
              {"blur / global", "7 x 7, pixels and filter in global memory"},
              {"blur / constant", "filter in constant memory"},
              {"blur / shared", "pixels in a shared tile with a halo"},
              {"blur / separable", "a row pass and a column pass by global memory"},
              {"blur / separable shared", "both passes in a shared tile"},
              {"blur / stream", "both passes in registers, warps stream down their columns"},
              {"blur / texture", "pixels through the texture unit"},
              {"blur / gather", "four pixels per fetch, each fetched once; then as the stream"},
              {"blur / NPP", "nppiFilter", lab::Role::library},
              {"edges / global", "Sobel, 8 loads per pixel"},
              {"edges / shared", "shared tile with a halo of 1"},
              {"edges / texture", "through the texture unit"},
              {"histogram / global", "one atomic on global memory per pixel"},
              {"histogram / shared", "one histogram per block in shared memory"},
              {"histogram / warp", "one histogram per warp"},
              {"histogram / wide", "four pixels a load"},
              {"histogram / lanes", "one column of bins per lane, in its own bank; 16 pixels per load"},
              {"median 3x3 / global", "window in local memory, insertion sort"},
              {"median 3x3 / shared", "window from a shared tile"},
              {"median 3x3 / network", "sorting network in registers"},
              {"median 5x5 / global", "25 pixels: sort in local memory"},
              {"median 5x5 / shared", "window from a shared tile"},
              {"median 5x5 / network", "sorting network in registers"},
              {"median 5x5 / tiles", "windows share their sorting networks, two pixels per register"},
              {"dct / naive", "64 products per coefficient, and back, through global memory"},
              {"dct / shared", "separable, forward and back in shared memory"},
              {"dct / registers", "fast transform, each thread holds one block in registers"},
              {"match / global", "normalised cross-correlation with a piece of 16 x 16"},
              {"match / constant", "the piece in constant memory"},
              {"match / shared", "the image in a shared tile"},
              {"match / tensor", "products by tensor cores, sums that move with the window"},
              {"match / warpgroups", "products of four warps from shared memory, 4 rows of positions at a time"}},
    .options = {{"image", "-", "a PNG file to use instead of a generated picture"},
                {"out", "-", "a folder for the results as PNG"},
                {"hue", "120", "shift of the hue in degrees, 0 to 360"},
                {"quality", "50", "of the compression, 1 to 100"}},
};
constexpr double kUnit = lab::kUnitFloat;
constexpr char kNoHalves[] = "this GPU has no minimum of two halves of a register: compute capability 9.0 up";

dim3 tiles(long rows, long columns) {
  return dim3(lab::blocks(columns, kTileX), lab::blocks(rows, kTileY));
}
const dim3 kTile(kTileX, kTileY);

class Images {
 public:
  Images(lab::Program& program, const Picture& picture, const lab::Size& size)
      : program_(program),
        picture_(picture),
        size_(size),
        rows_(picture.rows),
        columns_(picture.columns),
        count_(rows_ * columns_),
        grey_{rows_, columns_, grey_bytes(picture)},
        grey_in_(grey_.values),
        grey_out_(picture.count()),
        grey_rows_(rows_, columns_, grey_.values),
        rows_out_(rows_, columns_) {
    for (const unsigned char v : grey_.values) bright_.push_back(v / 255.0f);
  }

  void points() {
    const lab::DeviceArray<uchar4> in(picture_.pixels);
    lab::DeviceArray<uchar4> out(picture_.count());
    std::vector<unsigned char> packed;
    for (const uchar4 p : picture_.pixels) packed.insert(packed.end(), {p.x, p.y, p.z});
    const lab::DeviceArray<unsigned char> packed_in(packed);
    const int grid = lab::blocks(count_, kThreads);
    // Tolerance: half a step for rounding to a byte, plus the roundings of 3 products and 2 sums of at most 255.
    const std::vector<double> luma = luma_of(picture_);
    const double tolerance = 0.5 + 255 * 6 * kUnit;
    bytes("desaturate / packed", 4, 5, luma, tolerance,
          [&] { desaturate_packed<<<grid, kThreads>>>(packed_in.data(), grey_out_.data(), count_); });
    bytes("desaturate / word", 5, 5, luma, tolerance,
          [&] { desaturate<<<grid, kThreads>>>(in.data(), grey_out_.data(), count_); });
    const std::vector<double> inverted = negative_of(picture_);
    colours("negative / word", out, inverted, 0, [&] { negative<<<grid, kThreads>>>(in.data(), out.data(), count_); });
    colours("negative / wide", out, inverted, 0, [&] {
      negative_wide<<<lab::blocks((count_ + 3) / 4, kThreads), kThreads>>>(
          reinterpret_cast<const uint4*>(in.data()), reinterpret_cast<uint4*>(out.data()), count_);
    });
    // Tolerance: a colour changes by at most 255 over a sixth of the circle. The hue is at most 11 and rounded 6 times.
    const double degrees = static_cast<double>(program_.line().option_number("hue", 0, 360));
    colours("hue shift", out, hue_shifted(picture_, degrees), 0.5 + 255 * (11 * 6 + 4) * kUnit,
            [&] { hue_shift<<<grid, kThreads>>>(in.data(), out.data(), static_cast<float>(degrees / 60), count_); });
  }

  void convolutions() {
    const lab::DeviceArray<float> in(bright_);
    lab::DeviceArray<float> out(bright_.size()), between(bright_.size());
    const std::vector<double> weights = gaussian(kRadius);
    std::vector<float> line(weights.begin(), weights.end()), square;
    for (const double y : weights)
      for (const double x : weights) square.push_back(static_cast<float>(y * x));
    CHECK_CUDA(cudaMemcpyToSymbol(filter_1d, line.data(), line.size() * sizeof(float)));
    CHECK_CUDA(cudaMemcpyToSymbol(filter_2d, square.data(), square.size() * sizeof(float)));
    const lab::DeviceArray<float> filter(square);
    const Array array(bright_, columns_, rows_);
    const Texture texture(array.resource(), {});
    const dim3 grid = tiles(rows_, columns_);
    const Plane<float> plane{rows_, columns_, bright_};

    // Tolerance: weights and pixels are positive, and the weights add up to 1. Each of 49 products is rounded at most
    // 49 times on its way into the sum, once as a weight and once as a product.
    const std::vector<double> blur = blurred(plane, weights);
    const auto blur_row = [&](const char* rung, auto launch) {
      floats(rung, out, 2.0 * kWidth * kWidth, blur, 52 * kUnit, launch);
    };
    blur_row("blur / global",
             [&] { blur_global<<<grid, kTile>>>(in.data(), filter.data(), out.data(), rows_, columns_); });
    blur_row("blur / constant", [&] { blur_constant<<<grid, kTile>>>(in.data(), out.data(), rows_, columns_); });
    blur_row("blur / shared", [&] { blur_shared<<<grid, kTile>>>(in.data(), out.data(), rows_, columns_); });
    blur_row("blur / separable", [&] {
      blur_rows<<<grid, kTile>>>(in.data(), between.data(), rows_, columns_);
      blur_columns<<<grid, kTile>>>(between.data(), out.data(), rows_, columns_);
    });
    blur_row("blur / separable shared",
             [&] { blur_separable_shared<<<grid, kTile>>>(in.data(), out.data(), rows_, columns_); });
    blur_by_stream(blur_row, weights, in, out);
    blur_row("blur / texture", [&] { blur_texture<<<grid, kTile>>>(texture, out.data(), rows_, columns_); });
    blur_by_gather(blur_row, weights, out);
    npp();

    // Tolerance: a gradient is a sum of 6 terms with weights of at most 8 in all, rounded at most 6 times. The root of
    // two squares changes by at most their sum, and is rounded 4 times at a value of at most 4 * sqrt(2).
    const std::vector<double> edges = edges_of(plane);
    const auto edge_row = [&](const char* rung, auto launch) {
      floats(rung, out, 16, edges, (2 * 8 * 6 + 4 * 6) * kUnit, launch);
    };
    edge_row("edges / global", [&] { edges_global<<<grid, kTile>>>(in.data(), out.data(), rows_, columns_); });
    edge_row("edges / shared", [&] { edges_shared<<<grid, kTile>>>(in.data(), out.data(), rows_, columns_); });
    edge_row("edges / texture", [&] { edges_texture<<<grid, kTile>>>(texture, out.data(), rows_, columns_); });
  }

  template <class BlurRow>
  void blur_by_stream(const BlurRow& row, const std::vector<double>& line, const lab::DeviceArray<float>& in,
                      lab::DeviceArray<float>& out) {
    using Strip = BlurStrip<kRadius, 4>;
    if (lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 8) {
      const lab::Case c{"blur / stream", size_, "float", {}};
      return program_.skip(c, "this GPU has no asynchronous copies: compute capability 8.0 up");
    }
    Weights<kRadius> weights;
    std::copy(line.begin(), line.end(), weights.w);
    const auto kernel = columns_ % 4 == 0 ? blur_stream<Strip, true> : blur_stream<Strip, false>;
    constexpr int kWaves = 1;  // the fastest of 1, 2 and 4 on an H200
    int each = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, 32 * Strip::kWarps, Strip::kShared));
    const lab::Strips cut = lab::cut_strips(rows_, columns_, Strip::kWidth, Strip::kWarps, each, kWaves);
    row("blur / stream", [&, cut] {
      kernel<<<cut.grid, 32 * Strip::kWarps, Strip::kShared>>>(in.data(), out.data(), weights, rows_, columns_,
                                                               cut.chunk);
    });
  }

  template <class BlurRow>
  void blur_by_gather(const BlurRow& row, const std::vector<double>& line, lab::DeviceArray<float>& out) {
    if (lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 3)
      return program_.skip({"blur / gather", size_, "float", {}},
                           "this GPU has no shuffles: compute capability 3.0 up");
    const Array array(bright_, columns_, rows_, cudaArrayTextureGather);
    const Texture texture(array.resource(), {});
    Weights<kRadius> weights;
    std::copy(line.begin(), line.end(), weights.w);
    constexpr int kAhead = 1, kWarps = 4, kWaves = 1;  // fastest of 1 to 3 and of 1 and 2 on an H100 at 2160 x 3840
    const auto kernel =
        columns_ % 4 == 0 ? blur_gather<kRadius, kAhead, kWarps, true> : blur_gather<kRadius, kAhead, kWarps, false>;
    const lab::Strips cut =
        lab::cut_strips(rows_, columns_, kGatherStrip, kWarps, resident(kernel, 32 * kWarps), kWaves);
    row("blur / gather",
        [&, cut] { kernel<<<cut.grid, 32 * kWarps>>>(texture, out.data(), weights, rows_, columns_, cut.chunk); });
  }

  void histograms() {
    lab::DeviceArray<unsigned> bins(kBins);
    std::vector<double> expected(kBins);
    for (const unsigned char v : grey_.values) ++expected[v];
    const int grid = lab::blocks(count_, long(kHistogramThreads) * kPixelsPerThread);
    const auto row = [&](const char* rung, auto kernel) {
      program_.run(
          {rung, size_, "byte", {double(count_) + 4.0 * kBins, 0}},
          [&] { CHECK_CUDA(cudaMemset(bins.data(), 0, bins.bytes())); },
          [&] { kernel<<<grid, kHistogramThreads>>>(grey_in_.data(), bins.data(), count_); },
          [&] { return lab::compare(bins.host(), expected); });
    };
    row("histogram / global", histogram_global);
    row("histogram / shared", histogram_shared);
    row("histogram / warp", histogram_warp);
    row("histogram / wide", histogram_wide);
    histogram_by_lanes(bins, expected);
  }

  void histogram_by_lanes(lab::DeviceArray<unsigned>& bins, const std::vector<double>& expected) {
    constexpr int kLaneThreads = 1024, kFlight = 2;  // fastest on an H200 at 64 MiB and at 1 GiB
    const auto kernel = histogram_lanes<kLaneThreads, kFlight>;
    const lab::Case c{"histogram / lanes", size_, "byte", {double(count_) + 4.0 * kBins, 0}};
    int each = 0;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, kLaneThreads, kLaneTableBytes) != cudaSuccess)
      cudaGetLastError();  // more threads or shared memory than a block may have
    if (each == 0) return program_.skip(c, "this GPU has not enough shared memory or threads for one block");
    if (lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 7)
      return program_.skip(c, "this GPU cannot say to its blocks that memory is ready: compute capability 7.0 up");
    const int resident = each * lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const int grid = std::min(resident, lab::blocks(count_, 16L * kCountingThreads<kLaneThreads>));
    lab::DeviceArray<int> turn(1);
    CHECK_CUDA(cudaMemset(turn.data(), 0, turn.bytes()));
    program_.run(
        c, [&] { bins.poison(); },
        [&] { kernel<<<grid, kLaneThreads, kLaneTableBytes>>>(grey_in_.data(), bins.data(), turn.data(), count_); },
        [&] { return lab::compare(bins.host(), expected); });
  }

  void medians_of_windows() {
    const dim3 grid = tiles(rows_, columns_);
    const auto rows_of = [&](const std::string& name, int halo, auto global, auto shared, auto network) {
      if (!program_.chosen(name + " / global") && !program_.chosen(name + " / shared") &&
          !program_.chosen(name + " / network"))
        return;
      const std::vector<double> expected = medians(grey_, halo);
      const auto row = [&](const std::string& rung, auto kernel) {
        bytes(rung, 2, 0, expected, 0,
              [&] { kernel<<<grid, kTile>>>(grey_in_.data(), grey_out_.data(), rows_, columns_); });
      };
      row(name + " / global", global);
      row(name + " / shared", shared);
      row(name + " / network", network);
    };
    rows_of("median 3x3", 1, median_global<1>, median_shared<1>, median_network<1>);
    rows_of("median 5x5", 2, median_global<2>, median_shared<2>, median_network<2>);
    if (program_.chosen("median 5x5 / tiles")) median_by_tiles();
  }

  void median_by_tiles() {
    const lab::Case c{"median 5x5 / tiles", size_, "byte", {2.0 * count_, 0}};
    if (lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 9) return program_.skip(c, kNoHalves);
    constexpr int kWaves = 4;  // the fastest of 1, 2 and 4 on an H100, by up to 4 %
    lab::Strips cut =
        lab::cut_strips(rows_, columns_, kMedianStrip, kMedianWarps, resident(median_tiles, 32 * kMedianWarps), kWaves);
    cut.chunk += cut.chunk % 2;
    const std::vector<double> expected = medians(grey_, 2);
    program_.run(
        c, [&] { rows_out_.poison(); },
        [&] {
          median_tiles<<<cut.grid, 32 * kMedianWarps>>>(grey_rows_.bytes(), rows_out_.bytes(), rows_, columns_,
                                                        cut.chunk);
        },
        [&] {
          const std::vector<unsigned char> got = rows_out_.host();
          save("median 5x5 / tiles", got);
          return lab::compare(got, expected, 0);
        });
  }

  void compressions() {
    const long quality = program_.line().option_number("quality", 1, 100);
    const std::vector<int> quantiser = quantisers_of(quality);
    const Transform transform;
    float table[kBlock * kBlock];
    for (int i = 0; i < kBlock * kBlock; ++i) table[i] = static_cast<float>(transform.cosine(i / kBlock, i % kBlock));
    const std::vector<float> divisors(quantiser.begin(), quantiser.end());
    CHECK_CUDA(cudaMemcpyToSymbol(cosines, table, sizeof table));
    CHECK_CUDA(cudaMemcpyToSymbol(quantisers, divisors.data(), divisors.size() * sizeof(float)));

    const int high = lab::blocks(rows_, kBlock) * kBlock, wide = lab::blocks(columns_, kBlock) * kBlock;
    Plane<double> pixels{high, wide, {}};
    for (int r = 0; r < high; ++r)
      for (int c = 0; c < wide; ++c) pixels.values.push_back(grey_.at(r, c) - 128.0);
    const std::vector<double> exact = transform.forward(pixels);
    lab::DeviceArray<short> coefficients(exact.size());
    const dim3 grid = tiles(high, wide);
    const auto case_of = [&](const char* rung) {
      return lab::Case{rung, size_, "byte", {2.0 * count_ + 2.0 * exact.size(), 4.0 * 2 * kBlock * count_}};
    };
    const auto row = [&](const char* rung, auto launch) {
      program_.run(
          case_of(rung), [&] { coefficients.poison(), grey_out_.poison(); }, launch,
          [&] {
            return check_compression(rung, transform, quantiser, exact, coefficients.host(), grey_out_.host(), wide);
          });
    };
    row("dct / naive", [&] {
      dct_naive<<<grid, kTile>>>(grey_in_.data(), coefficients.data(), rows_, columns_, wide);
      inverse_naive<<<grid, kTile>>>(coefficients.data(), grey_out_.data(), rows_, columns_, wide);
    });
    row("dct / shared", [&] {
      dct_shared<<<grid, kTile>>>(grey_in_.data(), coefficients.data(), grey_out_.data(), rows_, columns_, wide);
    });
    compress_in_registers(case_of("dct / registers"), transform, quantiser, exact, wide);
    if (!program_.chosen("dct / shared")) return;
    const std::vector<short> got = coefficients.host();
    const double zeros = static_cast<double>(std::count(got.begin(), got.end(), 0));
    char text[240];
    std::snprintf(text, sizeof text,
                  "Quality %ld: %.1f %% of the %zu coefficients are 0, and need next to no space.\nPSNR of the picture "
                  "that comes back: %.2f dB.\n",
                  quality, 100 * zeros / got.size(), got.size(), psnr(grey_out_.host(), grey_.values));
    program_.note("compression of " + size_.text(), text);
  }

  void matches() {
    Plane<unsigned char> piece{std::min(rows_, kPiece), std::min(columns_, kPiece), {}};
    const int top = (rows_ - piece.rows) / 3, left = (columns_ - piece.columns) / 3;
    for (int y = 0; y < piece.rows; ++y)
      for (int x = 0; x < piece.columns; ++x) piece.values.push_back(grey_.at(top + y, left + x));
    unsigned sum = 0, squares = 0;
    for (const unsigned v : piece.values) sum += v, squares += v * v;
    const double spread = double(piece.values.size()) * squares - double(sum) * sum;
    const Piece shape = {piece.rows, piece.columns, sum, spread > 0 ? static_cast<float>(1 / std::sqrt(spread)) : 0};
    CHECK_CUDA(cudaMemcpyToSymbol(piece_pixels, piece.values.data(), piece.values.size()));
    const lab::DeviceArray<unsigned char> pixels(piece.values);

    const int high = rows_ - piece.rows + 1, wide = columns_ - piece.columns + 1;
    lab::DeviceArray<float> out(size_t(high) * wide);
    const dim3 grid = tiles(high, wide);
    const std::vector<double> expected = scores_of(grey_, piece);
    // Tolerance: the sums are exact; a score of at most 1 is rounded 6 times.
    const auto row = [&](const char* rung, auto launch) {
      program_.run(
          {rung, size_, "byte", {count_ + 4.0 * out.count(), 6.0 * piece.values.size() * out.count()}},
          [&] { out.poison(); }, launch, [&] { return lab::compare(out.host(), expected, 8 * kUnit); });
    };
    row("match / global",
        [&] { match_global<<<grid, kTile>>>(grey_in_.data(), pixels.data(), out.data(), shape, rows_, columns_); });
    row("match / constant",
        [&] { match_constant<<<grid, kTile>>>(grey_in_.data(), out.data(), shape, rows_, columns_); });
    row("match / shared", [&] { match_shared<<<grid, kTile>>>(grey_in_.data(), out.data(), shape, rows_, columns_); });
    match_by_tensor(shape, high, wide, piece.values.size(), expected);
    match_by_warpgroups(shape, static_cast<float>(spread), pixels, high, wide, expected);
    if (!program_.chosen("match / shared")) return;
    const std::vector<float> got = out.host();
    const size_t best = std::max_element(got.begin(), got.end()) - got.begin();
    char text[200];
    std::snprintf(text, sizeof text,
                  "The piece of %d x %d pixels was cut out at (%d, %d); the best place is (%zu, %zu), "
                  "correlation %.4f.\n",
                  piece.rows, piece.columns, top, left, best / wide, best % wide, got[best]);
    program_.note("matching in " + size_.text(), text);
  }

 private:
  void compress_in_registers(const lab::Case& c, const Transform& transform, const std::vector<int>& quantiser,
                             const std::vector<double>& exact, int wide) {
    if (lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 9) return program_.skip(c, kNoHalves);
    lab::DeviceArray<short> coefficients(exact.size());
    Factors by;
    for (int i = 0; i < kBlock * kBlock; ++i) {
      const auto scale = [](int k) { return k ? std::sqrt(2.0) * std::cos(k * M_PI / 16) : 1.0; };
      const double factor = 8 * scale(i / kBlock) * scale(i % kBlock);
      by.forward[i] = static_cast<float>(1 / (factor * quantiser[i]));
      by.back[i] = static_cast<float>(quantiser[i] * factor / 64);
    }
    // As many blocks as run at once, each with several places: the fastest at 2160 x 3840 on an H100, by 6 %.
    constexpr int kDctThreads = 128;
    const int all = lab::blocks(static_cast<long>(exact.size()) / (kBlock * kBlock), kDctThreads);
    const int blocks =
        std::min(all, resident(dct_registers, kDctThreads) * lab::device_attribute(cudaDevAttrMultiProcessorCount));
    program_.run(
        c, [&] { coefficients.poison(), rows_out_.poison(); },
        [&] {
          dct_registers<<<blocks, kDctThreads>>>(grey_rows_.bytes(), coefficients.data(), rows_out_.bytes(), by, rows_,
                                                 columns_, wide);
        },
        [&] {
          return check_compression("dct / registers", transform, quantiser, exact, coefficients.host(),
                                   rows_out_.host(), wide);
        });
  }
  // Tolerance: the sums are exact here too. A score is rounded 6 times, and the reciprocal root is an approximation
  // with an error of two roundings.
  void match_by_tensor(const Piece& shape, int high, int wide, size_t pixels, const std::vector<double>& expected) {
    const lab::Case c{"match / tensor", size_, "byte", {count_ + 4.0 * high * wide, 6.0 * pixels * high * wide}};
    if (lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 8)
      return program_.skip(c, "this GPU's tensor cores do not multiply bytes 16 x 32: compute capability 8.0 up");
    constexpr int kWarps = 4, kAhead = 3, kWaves = 1;  // fastest of 1 to 4 and of 1 and 2 on an H100
    const auto kernel = match_tensor<kWarps, kAhead>;
    const lab::Strips cut = lab::cut_strips(high, wide, kMatchStrip, kWarps, resident(kernel, 32 * kWarps), kWaves);
    PitchedPlane<float> scores(high, wide);
    program_.run(
        c, [&] { scores.poison(); },
        [&] {
          kernel<<<cut.grid, 32 * kWarps>>>(grey_rows_.bytes(), scores.data(), scores.pitch(), shape, rows_, columns_,
                                            cut.chunk);
        },
        [&] { return lab::compare(scores.host(), expected, 8 * kUnit); });
  }
  // Tolerance: one more rounding, because the piece's spread is a float too.
  void match_by_warpgroups(const Piece& shape, float spread, const lab::DeviceArray<unsigned char>& pixels, int high,
                           int wide, const std::vector<double>& expected) {
    const lab::Case c{
        "match / warpgroups", size_, "byte", {count_ + 4.0 * high * wide, 6.0 * pixels.count() * high * wide}};
    if (lab::device_attribute(cudaDevAttrComputeCapabilityMajor) != 9)
      return program_.skip(c, "products of warpgroups are of compute capability 9.0 and no other");
    CHECK_CUDA(
        cudaFuncSetAttribute(match_warpgroups, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(MatchShared)));
    const lab::Strips cut = lab::cut_strips(high, wide, kMatchStrip, kTeams * kSlots, 1, 1);
    PitchedPlane<float> scores(high, wide);
    program_.run(
        c, [&] { scores.poison(); },
        [&] {
          match_warpgroups<<<cut.grid, kTeams * kTeamThreads, sizeof(MatchShared)>>>(
              grey_rows_.bytes(), pixels.data(), scores.data(), scores.pitch(), shape, spread, rows_, columns_,
              cut.chunk);
        },
        [&] { return lab::compare(scores.host(), expected, 8 * kUnit); });
  }
  template <class Kernel>
  static int resident(Kernel kernel, int threads) {  // blocks on one SM
    int each = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0));
    return each;
  }

  // A rung that writes one byte a pixel to grey_out_: `moved` bytes and `flop` operations a pixel.
  template <class Launch>
  void bytes(const std::string& rung, double moved, double flop, const std::vector<double>& expected, double tolerance,
             Launch launch) {
    program_.run(
        {rung, size_, "byte", {moved * count_, flop * count_}}, [&] { grey_out_.poison(); }, launch,
        [&] {
          const std::vector<unsigned char> got = grey_out_.host();
          save(rung, got);
          return lab::compare(got, expected, tolerance);
        });
  }
  template <class Launch>
  void colours(const char* rung, lab::DeviceArray<uchar4>& out, const std::vector<double>& expected, double tolerance,
               Launch launch) {
    // The poison is not 0xff, which may be a correct colour.
    const auto poison = [&] { CHECK_CUDA(cudaMemset(out.data(), 0x01, out.bytes())); };
    program_.run({rung, size_, "byte", {8.0 * count_, 0}}, poison, launch, [&] {
      std::vector<unsigned char> got, shown;
      for (const uchar4 p : out.host()) {
        got.insert(got.end(), {p.x, p.y, p.z, p.w});
        shown.insert(shown.end(), {p.x, p.y, p.z});
      }
      save(rung, shown);
      return lab::compare(got, expected, tolerance);
    });
  }
  template <class Launch>
  void floats(const char* rung, lab::DeviceArray<float>& out, double flop, const std::vector<double>& expected,
              double tolerance, Launch launch) {
    program_.run(
        {rung, size_, "float", {8.0 * count_, flop * count_}}, [&] { out.poison(); }, launch,
        [&] {
          const std::vector<float> got = out.host();
          std::vector<unsigned char> shown;
          for (const float v : got) shown.push_back(to_byte(255.0 * v));
          save(rung, shown);
          return lab::compare(got, expected, tolerance);
        });
  }

  // Coefficients are compared with the exact ones after division. Tolerance: half a step, and float sums of at most 64
  // * 128 / 4. Pixels are compared with the inverse of the computed coefficients, since a tie may round either way.
  // Tolerance: half a step, and sums of at most 64 * 1200 / 4. Each term is rounded at most 70 times.
  lab::Verdict check_compression(const char* rung, const Transform& transform, const std::vector<int>& quantiser,
                                 const std::vector<double>& exact, const std::vector<short>& coefficients,
                                 const std::vector<unsigned char>& pixels, int wide) {
    Plane<double> scaled{static_cast<int>(exact.size()) / wide, wide, {}};
    std::vector<double> got, expected, tolerance;
    for (size_t i = 0; i < exact.size(); ++i) {
      const int q = quantiser[i / wide % 8 * 8 + i % wide % 8];
      scaled.values.push_back(double(coefficients[i]) * q);
      got.push_back(coefficients[i]);
      expected.push_back(exact[i] / q);
      tolerance.push_back(0.5 + 64 * 32 * 70 * kUnit / q);
    }
    const std::vector<double> back = transform.inverse(scaled);
    for (size_t i = 0; i < pixels.size(); ++i) {
      got.push_back(pixels[i]);
      expected.push_back(std::clamp(back[i / columns_ * wide + i % columns_] + 128, 0.0, 255.0));
      tolerance.push_back(0.5 + 64 * 300 * 70 * kUnit);
    }
    save(rung, pixels);
    return lab::compare(got, expected, tolerance);
  }

  void npp() {
    void* library = dlopen("libnppif.so.13", RTLD_LAZY);
    program_.skip({"blur / NPP", size_, "float", {}},
                  library ? "this program was built without NPP's headers" : "NPP (libnppif.so.13) is not installed");
    if (library) dlclose(library);
  }

  void save(const std::string& rung, const std::vector<unsigned char>& picture) {
    const std::string& folder = program_.line().option("out");
    if (folder == "-") return;
    std::string name;  // for example median_3x3_network for "median 3x3 / network"
    for (const char c : rung)
      if (c != '/' && !(c == ' ' && name.back() == '_')) name += c == ' ' ? '_' : c;
    const std::string error = write_png(folder + "/" + name + "_" + size_.text() + ".png", rows_, columns_, picture);
    if (!error.empty()) program_.line().fail(error);
  }

  lab::Program& program_;
  const Picture& picture_;
  lab::Size size_;
  int rows_, columns_, count_;
  Plane<unsigned char> grey_;
  std::vector<float> bright_;  // 0 to 1
  lab::DeviceArray<unsigned char> grey_in_, grey_out_;
  PitchedPlane<unsigned char> grey_rows_, rows_out_;
};

bool any(const lab::Program& program, const std::string& start) {
  for (const lab::Rung& rung : kTopic.rungs)
    if (std::string(rung.name).rfind(start, 0) == 0 && program.chosen(rung.name)) return true;
  return false;
}

void process(lab::Program& program, const Picture& picture, const lab::Size& size) {
  Images images(program, picture, size);
  if (any(program, "desaturate") || any(program, "negative") || any(program, "hue")) images.points();
  if (any(program, "blur") || any(program, "edges")) images.convolutions();
  if (any(program, "histogram")) images.histograms();
  images.medians_of_windows();
  if (any(program, "dct")) images.compressions();
  if (any(program, "match")) images.matches();
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const lab::CommandLine& line = program.line();
  line.option_number("hue", 0, 360);
  line.option_number("quality", 1, 100);
  if (const std::string& folder = line.option("out"); folder != "-")
    if (const std::string error = make_folder(folder); !error.empty()) line.fail(error);
  Picture picture;
  if (const std::string& path = line.option("image"); path != "-") {
    if (const std::string error = read_png(path, picture); !error.empty()) line.fail(error);
    const lab::Size size{{picture.rows, picture.columns}};
    if (program.fits(size, 40.0 * picture.count(), 250.0 * picture.count())) process(program, picture, size);
    return program.finish();
  }
  for (const lab::Size& size : program.sizes()) {
    if (const std::string why = too_large(size[0], size[1]); !why.empty()) {
      program.skip({"", size, "", {}}, why);
      continue;
    }
    const double pixels = double(size[0]) * size[1];
    if (!program.fits(size, 40 * pixels, 250 * pixels)) continue;
    picture = generate(static_cast<int>(size[0]), static_cast<int>(size[1]));
    process(program, picture, size);
  }
  return program.finish();
}
