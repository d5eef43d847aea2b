// Expected results of texture fetches, in double precision on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

struct Image {
  int width, height;
  std::vector<float> texels;
  float at(long x, long y) const { return texels[size_t(y) * width + x]; }
  float clamped(long x, long y) const {
    return at(std::clamp<long>(x, 0, width - 1), std::clamp<long>(y, 0, height - 1));
  }
};

enum class Outside { wrap, mirror, clamp, border };

// Returns the texel used for texel i of n, or -1 for the border.
inline long inside(Outside mode, long i, long n) {
  const long turn = (i % n + n) % n;
  switch (mode) {
    case Outside::wrap:
      return turn;
    case Outside::mirror:
      return (i - turn) / n % 2 ? n - 1 - turn : turn;
    case Outside::clamp:
      return std::clamp<long>(i, 0, n - 1);
    case Outside::border:
      return i == turn ? i : -1;
  }
  return -1;
}

// A bilinear sample at (x, y), clamped at the edges. Texel (i, j) has its centre at (i + 0.5, j + 0.5). steps: number
// of steps of a weight from 0 to 1, 256 in the texture unit; 0: weights are not rounded.
struct Sample {
  double value, slope;  // slope: change of the value if both weights go from 0 to 1
};
inline Sample bilinear(const Image& image, double x, double y, int steps) {
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5);
  double a = x - 0.5 - left, b = y - 0.5 - top;
  if (steps) {
    a = std::floor(a * steps + 0.5) / steps;
    b = std::floor(b * steps + 0.5) / steps;
  }
  const long i = static_cast<long>(left), j = static_cast<long>(top);
  const double t00 = image.clamped(i, j), t10 = image.clamped(i + 1, j), t01 = image.clamped(i, j + 1),
               t11 = image.clamped(i + 1, j + 1);
  const double along_x = std::max(std::fabs(t10 - t00), std::fabs(t11 - t01));
  const double along_y = std::max(std::fabs(t01 - t00), std::fabs(t11 - t10));
  return {(1 - a) * (1 - b) * t00 + a * (1 - b) * t10 + (1 - a) * b * t01 + a * b * t11, along_x + along_y};
}
