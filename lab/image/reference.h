// The results that the kernels must compute: on the host, in double precision, unrounded.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "image/picture.h"

namespace image {

// A plane of numbers. An index outside it reads its nearest element.
template <class T>
struct Plane {
  int rows, columns;
  std::vector<T> values;
  T at(int r, int c) const {
    return values[size_t(std::clamp(r, 0, rows - 1)) * columns + std::clamp(c, 0, columns - 1)];
  }
};

inline std::vector<double> luma_of(const Picture& picture) {
  std::vector<double> out;
  for (const uchar4 p : picture.pixels) out.push_back(luma(p));
  return out;
}

inline std::vector<double> negative_of(const Picture& picture) {
  std::vector<double> out;
  for (const uchar4 p : picture.pixels) out.insert(out.end(), {255.0 - p.x, 255.0 - p.y, 255.0 - p.z, 255.0});
  return out;
}

// Smith's hexcone model by its sectors. The kernel goes back to RGB in another way.
inline std::vector<double> hue_shifted(const Picture& picture, double degrees) {
  std::vector<double> out;
  for (const uchar4 p : picture.pixels) {
    const double r = p.x, g = p.y, b = p.z, v = std::max({r, g, b}), chroma = v - std::min({r, g, b});
    if (chroma == 0) {
      out.insert(out.end(), {v, v, v, 255.0});
      continue;
    }
    double hue = v == r ? (g - b) / chroma : v == g ? 2 + (b - r) / chroma : 4 + (r - g) / chroma;
    hue = std::fmod(hue + degrees / 60 + 12, 6.0);
    const int sector = std::min(static_cast<int>(hue), 5);
    const double f = hue - sector, low = v - chroma, down = v - chroma * f, up = v - chroma * (1 - f);
    const double colours[6][3] = {{v, up, low},   {down, v, low}, {low, v, up},
                                  {low, down, v}, {up, low, v},   {v, low, down}};
    out.insert(out.end(), {colours[sector][0], colours[sector][1], colours[sector][2], 255.0});
  }
  return out;
}

// Weights of a Gaussian of standard deviation radius / 2. Their sum is 1.
inline std::vector<double> gaussian(int radius) {
  std::vector<double> weights;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) weights.push_back(std::exp(-2.0 * i * i / (radius * radius)));
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
  return weights;
}

inline std::vector<double> blurred(const Plane<float>& in, const std::vector<double>& weights) {
  const int radius = static_cast<int>(weights.size()) / 2;
  Plane<double> between{in.rows, in.columns, {}};
  for (int r = 0; r < in.rows; ++r)
    for (int c = 0; c < in.columns; ++c) {
      double sum = 0;
      for (int i = -radius; i <= radius; ++i) sum += weights[i + radius] * in.at(r + i, c);
      between.values.push_back(sum);
    }
  std::vector<double> out;
  for (int r = 0; r < in.rows; ++r)
    for (int c = 0; c < in.columns; ++c) {
      double sum = 0;
      for (int i = -radius; i <= radius; ++i) sum += weights[i + radius] * between.at(r, c + i);
      out.push_back(sum);
    }
  return out;
}

inline std::vector<double> edges_of(const Plane<float>& in) {
  constexpr double kX[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
  std::vector<double> out;
  for (int r = 0; r < in.rows; ++r)
    for (int c = 0; c < in.columns; ++c) {
      double x = 0, y = 0;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          x += kX[i][j] * in.at(r + i - 1, c + j - 1);
          y += kX[j][i] * in.at(r + i - 1, c + j - 1);
        }
      out.push_back(std::hypot(x, y));
    }
  return out;
}

inline std::vector<double> medians(const Plane<unsigned char>& in, int halo) {
  std::vector<double> out;
  std::vector<unsigned char> window;
  for (int r = 0; r < in.rows; ++r)
    for (int c = 0; c < in.columns; ++c) {
      window.clear();
      for (int y = -halo; y <= halo; ++y)
        for (int x = -halo; x <= halo; ++x) window.push_back(in.at(r + y, c + x));
      std::nth_element(window.begin(), window.begin() + window.size() / 2, window.end());
      out.push_back(window[window.size() / 2]);
    }
  return out;
}

// Cosine transform of blocks of 8 x 8: sums over rows, then over columns.
class Transform {
 public:
  Transform() {
    for (int k = 0; k < 8; ++k)
      for (int n = 0; n < 8; ++n) cosine_[k][n] = std::sqrt(k ? 0.25 : 0.125) * std::cos((2 * n + 1) * k * M_PI / 16);
  }
  double cosine(int frequency, int place) const { return cosine_[frequency][place]; }
  std::vector<double> forward(const Plane<double>& in) const { return apply(in, false); }
  std::vector<double> inverse(const Plane<double>& in) const { return apply(in, true); }

 private:
  std::vector<double> apply(const Plane<double>& in, bool back) const {
    std::vector<double> between(in.values.size()), out(in.values.size());
    const auto weight = [&](int to, int from) { return back ? cosine_[from][to] : cosine_[to][from]; };
    for (int r = 0; r < in.rows; ++r)
      for (int c = 0; c < in.columns; ++c) {
        double sum = 0;
        for (int i = 0; i < 8; ++i) sum += weight(c % 8, i) * in.values[size_t(r) * in.columns + c / 8 * 8 + i];
        between[size_t(r) * in.columns + c] = sum;
      }
    for (int r = 0; r < in.rows; ++r)
      for (int c = 0; c < in.columns; ++c) {
        double sum = 0;
        for (int i = 0; i < 8; ++i) sum += weight(r % 8, i) * between[size_t(r / 8 * 8 + i) * in.columns + c];
        out[size_t(r) * in.columns + c] = sum;
      }
    return out;
  }
  double cosine_[8][8];
};

// The luminance table of the JPEG standard (ITU-T T.81, table K.1), scaled for a quality of 1 to 100 in the same way as
// the Independent JPEG Group does.
inline std::vector<int> quantisers_of(long quality) {
  constexpr int kTable[64] = {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                              14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                              18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                              49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
  const long scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  std::vector<int> out;
  for (const int q : kTable) out.push_back(static_cast<int>(std::clamp((q * scale + 50) / 100, 1l, 255l)));
  return out;
}

// Peak signal-to-noise ratio in dB: 20 log10(255 / root of the mean squared difference).
inline double psnr(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
  return sum == 0 ? INFINITY : 10 * std::log10(255.0 * 255.0 * a.size() / sum);
}

// Normalised cross-correlation of the piece with each place, from means and differences from them.
inline std::vector<double> scores_of(const Plane<unsigned char>& in, const Plane<unsigned char>& piece) {
  const double n = static_cast<double>(piece.values.size());
  double piece_mean = 0, piece_squares = 0;
  for (const unsigned char v : piece.values) piece_mean += v / n;
  for (const unsigned char v : piece.values) piece_squares += (v - piece_mean) * (v - piece_mean);
  std::vector<double> out;
  for (int r = 0; r + piece.rows <= in.rows; ++r)
    for (int c = 0; c + piece.columns <= in.columns; ++c) {
      double mean = 0, squares = 0, products = 0;
      bool flat = true;
      for (int y = 0; y < piece.rows; ++y)
        for (int x = 0; x < piece.columns; ++x) {
          mean += in.values[size_t(r + y) * in.columns + c + x];
          flat = flat && in.values[size_t(r + y) * in.columns + c + x] == in.values[size_t(r) * in.columns + c];
        }
      mean /= n;
      for (int y = 0; y < piece.rows; ++y)
        for (int x = 0; x < piece.columns; ++x) {
          const double difference = in.values[size_t(r + y) * in.columns + c + x] - mean;
          squares += difference * difference;
          products += difference * (piece.values[size_t(y) * piece.columns + x] - piece_mean);
        }
      const bool defined = !flat && piece_squares > 1e-9;
      out.push_back(defined ? products / std::sqrt(squares * piece_squares) : 0);
    }
  return out;
}

}  // namespace image
