// Reads through the texture unit: linear memory, pitched memory, arrays; filtering; values outside the texture.
#include <string>

#include "harness/harness.h"
#include "texture/kernels.cuh"
#include "texture/objects.h"
#include "texture/reference.h"

namespace {

const lab::Topic kTopic = {
    .name = "texture",
    .title = "textures: shifted copies, arrays, filtering, address modes, a rotated image",
    .document = "001 (Advanced CUDA)",
    .shows =
        "The texture unit computes its own addresses: any alignment, two dimensions, coordinates between and outside "
        "the texels. The same kernels with plain loads are for comparison.",
    .size_names = "WIDTHxHEIGHT",
    .quick_sizes = "512x384",
    .full_sizes = "4096x4096",
    .rungs = {{"plain loads", "out[i] = in[i + k] by plain loads", lab::Role::sweep},
              {"texture fetch", "the same through a texture of linear memory", lab::Role::sweep},
              {"1D array", "copy of a one-dimensional array", lab::Role::sweep},
              {"2D pitched", "copy of pitched memory in two dimensions", lab::Role::sweep},
              {"2D array", "copy of a two-dimensional array", lab::Role::sweep},
              {"linear filter", "samples at random positions, 8-bit weights", lab::Role::sweep},
              {"wrap", "normalised coordinates from -1 to 2, the image repeats", lab::Role::sweep},
              {"mirror", "every second copy is mirrored", lab::Role::sweep},
              {"clamp", "the nearest texel of the edge", lab::Role::sweep},
              {"border", "zero outside", lab::Role::sweep},
              {"rotate, global", "four loads per pixel, clamped and weighted by the kernel"},
              {"rotate, texture", "one fetch per pixel of a 2D array"}},
    .options = {{"degrees", "30", "rotation of the image in degrees, 0 to 360"}},
};

struct Mode {
  const char* rung;
  cudaTextureAddressMode address;
  Outside outside;
};
constexpr Mode kModes[] = {{"wrap", cudaAddressModeWrap, Outside::wrap},
                           {"mirror", cudaAddressModeMirror, Outside::mirror},
                           {"clamp", cudaAddressModeClamp, Outside::clamp},
                           {"border", cudaAddressModeBorder, Outside::border}};
constexpr double kUnit = lab::kUnitFloat;

int attribute(cudaDeviceAttr which) {
  int value = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

dim3 grid_2d(int width, int height) {
  return dim3(lab::blocks(width, kBlockX), lab::blocks(height, kBlockY));
}
const dim3 kBlock2D(kBlockX, kBlockY);

class Textures {
 public:
  Textures(lab::Program& program, const lab::Size& size)
      : program_(program),
        size_(size),
        width_(static_cast<int>(size[0])),
        height_(static_cast<int>(size[1])),
        count_(width_ * height_),
        image_{width_, height_, lab::Random(11).floats(size_t(count_))},
        in_(image_.texels),
        out_(image_.texels.size()) {}

  // The input has the largest shift more elements than the output.
  void shifts() {
    constexpr int kShifts[] = {0, 1, 2, 4, 8, 16, 17, 32}, kMost = 32;
    const std::vector<float> host = lab::Random(12).floats(size_t(count_) + kMost);
    lab::DeviceArray<float> in(host);
    const Texture texture(linear_resource(in), {});
    for (const int shift : kShifts) {
      const std::vector<float> expected(host.begin() + shift, host.begin() + shift + count_);
      const auto shifted = [&](const char* rung, auto launch) {
        lab::Case c = row(rung);
        c.parameters = {{"shift", shift}};
        run(c, expected, {0.0}, launch);
      };
      const int grid = lab::blocks(count_, kThreads);
      shifted("plain loads", [&, grid] { shift_global<<<grid, kThreads>>>(in.data(), out_.data(), shift, count_); });
      shifted("texture fetch", [&, grid] { shift_texture<<<grid, kThreads>>>(texture, out_.data(), shift, count_); });
    }
  }

  void copies() {
    const int n = std::min(count_, attribute(cudaDevAttrMaxTexture1DWidth));
    const std::vector<float> first(image_.texels.begin(), image_.texels.begin() + n);
    const Array line(first, n, 0);
    const Texture in_1d(line.resource(), {});
    lab::Case c = row("1D array");
    c.work.bytes = 8.0 * n;
    program_.run(
        c, [&] { out_.poison(); }, [&] { copy_1d<<<lab::blocks(n, kThreads), kThreads>>>(in_1d, out_.data(), n); },
        [&] {
          std::vector<float> got = out_.host();
          got.resize(n);
          return lab::compare(got, first);
        });
    const Pitched pitched(image_.texels, width_, height_);
    const Texture in_pitched(pitched.resource(), {});
    copy("2D pitched", in_pitched);
    const Array array(image_.texels, width_, height_);
    const Texture in_array(array.resource(), {});
    copy("2D array", in_array);
  }

  // The reference uses the texture unit's weights, in steps of 1/256. How the unit rounds a place to them, and the
  // products of two weights, is not documented. So one step of each weight is allowed.
  void filter() {
    lab::Random random(13);
    std::vector<float2> places(count_);
    std::vector<float> expected(count_);
    std::vector<double> tolerance(count_);
    for (int i = 0; i < count_; ++i) {  // including half a texel outside on each side
      places[i].x = (random.bits() * 0x1p-24f) * (width_ + 1) - 0.5f;
      places[i].y = (random.bits() * 0x1p-24f) * (height_ + 1) - 0.5f;
      const Sample sample = bilinear(image_, places[i].x, places[i].y, 256);
      expected[i] = static_cast<float>(sample.value);
      tolerance[i] = sample.slope / 256 + 8 * kUnit;
    }
    const lab::DeviceArray<float2> at(places);
    const Array array(image_.texels, width_, height_);
    const Texture texture(array.resource(), {.filter = cudaFilterModeLinear});
    lab::Case c = row("linear filter");
    c.work.bytes += 8.0 * count_;
    run(c, expected, tolerance,
        [&] { sample_linear<<<lab::blocks(count_, kThreads), kThreads>>>(texture, at.data(), out_.data(), count_); });
  }

  void outside() {
    const Array array(image_.texels, width_, height_);
    lab::DeviceArray<float> out(9 * size_t(count_));
    for (const Mode& mode : kModes) {
      const Texture texture(array.resource(), {.address = mode.address, .normalised = true});
      std::vector<float> expected(out.count());
      for (long y = 0; y < 3l * height_; ++y)
        for (long x = 0; x < 3l * width_; ++x) {
          const long i = inside(mode.outside, x - width_, width_), j = inside(mode.outside, y - height_, height_);
          expected[y * 3 * width_ + x] = i < 0 || j < 0 ? 0 : image_.at(i, j);
        }
      lab::Case c = row(mode.rung);
      c.work.bytes = 4.0 * count_ + 4.0 * out.count();
      program_.run(
          c, [&] { out.poison(); },
          [&] { sample_outside<<<grid_2d(3 * width_, 3 * height_), kBlock2D>>>(texture, out.data(), width_, height_); },
          [&] { return lab::compare(out.host(), expected); });
    }
  }

  // Places are computed in float. Each of a coordinate's 3 roundings moves it by half an ulp of at most the diagonal;
  // sine and cosine have errors too. A weight moves by as much, in the texture unit by one step more.
  void rotate(double degrees) {
    const double angle = degrees * M_PI / 180, diagonal = std::hypot(width_, height_);
    const Rotation rotation = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
    std::vector<float> expected(count_);
    std::vector<double> exact(count_), rounded(count_);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        const double dx = x + 0.5 - 0.5 * width_, dy = y + 0.5 - 0.5 * height_;
        const Sample sample = bilinear(image_, std::cos(angle) * dx + std::sin(angle) * dy + 0.5 * width_,
                                       std::cos(angle) * dy - std::sin(angle) * dx + 0.5 * height_, 0);
        const size_t i = size_t(y) * width_ + x;
        expected[i] = static_cast<float>(sample.value);
        // The slope changes at a texel's edge. A place that moves over it has the new slope, at most 2 a direction.
        exact[i] = 4 * 8 * diagonal * kUnit + 8 * kUnit;
        rounded[i] = exact[i] + sample.slope * 1.5 / 256;
      }
    run(row("rotate, global"), expected, exact, [&] {
      rotate_global<<<grid_2d(width_, height_), kBlock2D>>>(in_.data(), out_.data(), rotation, width_, height_);
    });
    const Array array(image_.texels, width_, height_);
    const Texture texture(array.resource(), {.filter = cudaFilterModeLinear});
    run(row("rotate, texture"), expected, rounded, [&] {
      rotate_texture<<<grid_2d(width_, height_), kBlock2D>>>(texture, out_.data(), rotation, width_, height_);
    });
  }

 private:
  lab::Case row(const char* rung) const { return {rung, size_, "float", {8.0 * count_, 0}}; }

  template <class Launch>
  void run(const lab::Case& c, const std::vector<float>& expected, const std::vector<double>& tolerance,
           Launch launch) {
    program_.run(
        c, [&] { out_.poison(); }, launch, [&] { return lab::compare(out_.host(), expected, tolerance); });
  }
  void copy(const char* rung, cudaTextureObject_t texture) {
    run(row(rung), image_.texels, {0.0},
        [&] { copy_2d<<<grid_2d(width_, height_), kBlock2D>>>(texture, out_.data(), width_, height_); });
  }

  lab::Program& program_;
  const lab::Size& size_;
  int width_, height_, count_;
  Image image_;
  lab::DeviceArray<float> in_, out_;
};

// A row of four texels A to D as each mode continues it, drawn from the texture's values.
void draw_modes(lab::Program& program) {
  constexpr int kWidth = 4;
  const Array array({1, 2, 3, 4}, kWidth, 1);
  lab::DeviceArray<float> out(9 * kWidth);
  std::string text = "A row of the four texels A B C D by coordinates from -1 to 2, as the texture unit returned it:\n";
  for (const Mode& mode : kModes) {
    const Texture texture(array.resource(), {.address = mode.address, .normalised = true});
    sample_outside<<<grid_2d(3 * kWidth, 3), kBlock2D>>>(texture, out.data(), kWidth, 1);
    CHECK_KERNEL();
    const std::vector<float> got = out.host();
    text += std::string(mode.rung) + std::string(8 - std::strlen(mode.rung), ' ');
    for (int i = 0; i < 3 * kWidth; ++i) {
      if (i % kWidth == 0) text += i ? " | " : "";
      text += ".ABCD"[static_cast<int>(got[3 * kWidth + i])];
    }
    text += "\n";
  }
  text +=
      "Texel i covers [i, i + 1) and has its centre at i + 0.5. A linear filter at x weighs texels i and i + 1,\n"
      "i = floor(x - 0.5), with 1 - a and a, where a is x - 0.5 - i as a number of 1 bit and 8 bits of fraction:\n"
      "between two texels there are 256 values. Textures of linear memory have neither filter nor address mode.\n";
  program.note("outside the image, and between texels", text);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const long degrees = program.line().option_number("degrees", 0, 360);
  const long widest = std::min(attribute(cudaDevAttrMaxTexture2DWidth), attribute(cudaDevAttrMaxTexture2DLinearWidth));
  const long highest =
      std::min(attribute(cudaDevAttrMaxTexture2DHeight), attribute(cudaDevAttrMaxTexture2DLinearHeight));
  for (const lab::Size& size : program.sizes()) {
    if (size[0] > widest || size[1] > highest || size[0] * size[1] > (1 << 27)) {
      char text[120];
      std::snprintf(text, sizeof text, "a 2D texture of this GPU has at most %ld x %ld texels, here 2^27 in all",
                    widest, highest);
      program.skip({"", size, "float", {}}, text);
      continue;
    }
    const double bytes = 4.0 * size[0] * size[1];
    if (!program.fits(size, 14 * bytes, 24 * bytes)) continue;
    Textures textures(program, size);
    textures.shifts();
    textures.copies();
    textures.filter();
    textures.outside();
    textures.rotate(static_cast<double>(degrees));
  }
  draw_modes(program);
  return program.finish();
}
