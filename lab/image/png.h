// Reader and writer of PNG files (libpng's simplified interface, which converts 16 bits, grey, palette and interlaced).
#pragma once

#include <png.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "image/picture.h"

namespace image {

constexpr long kMostRows = 65000, kMostPixels = 1l << 26;

// Returns the reason why a picture of this size is refused, or "" if it is accepted.
inline std::string too_large(long rows, long columns) {
  if (rows <= kMostRows && columns <= kMostRows && rows * columns <= kMostPixels) return "";
  return "an image has at most " + std::to_string(kMostRows) + " rows or columns and " + std::to_string(kMostPixels) +
         " pixels, not " + std::to_string(rows) + "x" + std::to_string(columns);
}

// Returns "" or the error in the file. Transparent pixels are drawn on white.
inline std::string read_png(const std::string& path, Picture& picture) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&png, path.c_str())) return path + ": cannot be read as PNG: " + png.message;
  if (const std::string why = too_large(png.height, png.width); !why.empty()) {
    png_image_free(&png);
    return path + ": " + why;
  }
  png.format = PNG_FORMAT_RGB;
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // 16-bit samples are sRGB like 8-bit ones, not linear light
  const png_color white = {255, 255, 255};
  std::vector<unsigned char> bytes(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, &white, bytes.data(), 0, nullptr))
    return path + ": cannot be read as PNG: " + png.message;
  picture = {static_cast<int>(png.height), static_cast<int>(png.width), {}};
  for (size_t i = 0; i < bytes.size(); i += 3)
    picture.pixels.push_back(make_uchar4(bytes[i], bytes[i + 1], bytes[i + 2], 255));
  return "";
}

// 3 bytes a pixel, or 1 (grey). Returns "" or the error.
inline std::string write_png(const std::string& path, int rows, int columns, const std::vector<unsigned char>& bytes) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.height = rows;
  png.width = columns;
  png.format = bytes.size() == size_t(rows) * columns ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (png_image_write_to_file(&png, path.c_str(), 0, bytes.data(), 0, nullptr)) return "";
  return path + ": cannot be written: " + png.message;
}

// Makes the folder for the results if it does not exist. Returns "" or the error.
inline std::string make_folder(const std::string& path) {
  struct stat status = {};
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    return path + ": the folder cannot be made: " + std::strerror(errno);
  if (stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return path + ": is not a folder";
  return "";
}

}  // namespace image
