// A colour picture on the host, and a synthetic one: gradients, discs, small glyphs with hard edges, noise.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/random.h"

namespace image {

struct Picture {
  int rows = 0, columns = 0;
  std::vector<uchar4> pixels;  // red, green, blue, 255
  size_t count() const { return pixels.size(); }
};

inline unsigned char to_byte(double value) {
  return static_cast<unsigned char>(std::lround(std::clamp(value, 0.0, 255.0)));
}

inline Picture generate(int rows, int columns) {
  Picture picture{rows, columns, std::vector<uchar4>(size_t(rows) * columns)};
  lab::Random random(5);
  bool glyphs[64][15];  // 5 rows of 3 dots each
  for (auto& glyph : glyphs)
    for (bool& dot : glyph) dot = random.below(2);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const double y = double(r) / rows, x = double(c) / columns;
      double red = 255 * x, green = 255 * y, blue = 255 * (1 - 0.5 * (x + y));
      if (std::hypot(y - 0.3, x - 0.3) < 0.18) red = 230, green = 60, blue = 40;
      if (std::hypot(y - 0.35, x - 0.72) < 0.12) red = 30, green = 90, blue = 220;
      if (y > 0.6 && y < 0.9) {  // a page of glyphs, dots of 2 x 2 pixels, 8 x 12 a glyph
        const int gx = c / 8, gy = r / 12, dx = c % 8 / 2, dy = r % 12 / 2;
        const bool ink = dx < 3 && dy < 5 && glyphs[(gx * 7 + gy * 13 + gx * gy) % 64][dy * 3 + dx];
        red = green = blue = ink ? 20 : 240;
      }
      const double noise = 6.0 * random.symmetric();
      const unsigned speck = random.below(50);  // 2 % salt, 2 % pepper
      if (speck == 0) red = green = blue = 255;
      if (speck == 1) red = green = blue = 0;
      picture.pixels[size_t(r) * columns + c] =
          make_uchar4(to_byte(red + noise), to_byte(green + noise), to_byte(blue + noise), 255);
    }
  return picture;
}

// Brightness as the eye weighs the colours (ITU-R BT.601), unrounded.
inline double luma(uchar4 p) {
  return 0.299 * p.x + 0.587 * p.y + 0.114 * p.z;
}

inline std::vector<unsigned char> grey_bytes(const Picture& picture) {
  std::vector<unsigned char> out;
  for (const uchar4 p : picture.pixels) out.push_back(to_byte(luma(p)));
  return out;
}

}  // namespace image
