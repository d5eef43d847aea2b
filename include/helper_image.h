// The samples' files of numbers and pictures (PGM, PPM), and comparisons of results with a reference.
#ifndef COMMON_HELPER_IMAGE_H_
#define COMMON_HELPER_IMAGE_H_

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "helper_string.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

// ---- Pictures: P5 is one channel, P6 three, of one byte each.
inline bool __loadPPM(const char* path, unsigned char** data, unsigned int* width, unsigned int* height,
                      unsigned int* channels) {
  std::ifstream in(path, std::ios::binary);
  std::string kind;
  if (!(in >> kind) || (kind != "P5" && kind != "P6")) {
    std::cerr << "__LoadPPM() : File is not a PPM or PGM image: " << path << std::endl;
    return false;
  }
  unsigned int size[3] = {0, 0, 0};
  for (unsigned int& value : size) {
    while ((in >> std::ws) && in.peek() == '#') {
      std::string comment;
      std::getline(in, comment);
    }
    if (!(in >> value)) return false;
  }
  in.get();
  *channels = kind == "P5" ? 1 : 3;
  *width = size[0];
  *height = size[1];
  const size_t bytes = static_cast<size_t>(size[0]) * size[1] * *channels;
  if (!*data) *data = static_cast<unsigned char*>(malloc(bytes));
  return *data && in.read(reinterpret_cast<char*>(*data), static_cast<std::streamsize>(bytes)).gcount() ==
                      static_cast<std::streamsize>(bytes);
}
inline bool __savePPM(const char* path, unsigned char* data, unsigned int width, unsigned int height,
                      unsigned int channels) {
  std::ofstream out(path, std::ios::binary);
  out << (channels == 1 ? "P5" : "P6") << "\n" << width << "\n" << height << "\n255\n";
  out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(width) * height * channels);
  return out.good();
}
template <class T>
inline bool sdkLoadPGM(const char* path, T** data, unsigned int* width, unsigned int* height) {
  unsigned char* bytes = NULL;
  unsigned int channels = 0;
  if (!__loadPPM(path, &bytes, width, height, &channels)) return false;
  const size_t count = static_cast<size_t>(*width) * *height * channels;
  if (!*data) *data = static_cast<T*>(malloc(count * sizeof(T)));
  for (size_t i = 0; i < count; i++)
    (*data)[i] = sizeof(T) == 1 ? static_cast<T>(bytes[i]) : static_cast<T>(bytes[i] / 255.0);
  free(bytes);
  return true;
}
inline bool sdkLoadPPM4ub(const char* path, unsigned char** data, unsigned int* width, unsigned int* height) {
  unsigned char* bytes = NULL;
  unsigned int channels = 0;
  if (!__loadPPM(path, &bytes, width, height, &channels) || channels != 3) return false;
  const size_t count = static_cast<size_t>(*width) * *height;
  *data = static_cast<unsigned char*>(malloc(count * 4));
  for (size_t i = 0; i < count; i++) {
    memcpy(*data + i * 4, bytes + i * 3, 3);
    (*data)[i * 4 + 3] = 0;
  }
  free(bytes);
  return true;
}
template <class T>
inline bool sdkLoadPPM4(const char* path, T** data, unsigned int* width, unsigned int* height) {
  unsigned char* bytes = NULL;
  if (!sdkLoadPPM4ub(path, &bytes, width, height)) return false;
  const size_t count = static_cast<size_t>(*width) * *height * 4;
  if (!*data) *data = static_cast<T*>(malloc(count * sizeof(T)));
  for (size_t i = 0; i < count; i++)
    (*data)[i] = sizeof(T) == 1 ? static_cast<T>(bytes[i]) : static_cast<T>(bytes[i] / 255.0);
  free(bytes);
  return true;
}
template <class T>
inline bool sdkSavePGM(const char* path, T* data, unsigned int width, unsigned int height) {
  std::vector<unsigned char> bytes(static_cast<size_t>(width) * height);
  for (size_t i = 0; i < bytes.size(); i++)
    bytes[i] = sizeof(T) == 1 ? static_cast<unsigned char>(data[i]) : static_cast<unsigned char>(data[i] * 255.0);
  return __savePPM(path, bytes.data(), width, height, 1);
}
inline bool sdkSavePPM4ub(const char* path, unsigned char* data, unsigned int width, unsigned int height) {
  std::vector<unsigned char> bytes(static_cast<size_t>(width) * height * 3);
  for (size_t i = 0; i < bytes.size() / 3; i++) memcpy(&bytes[i * 3], data + i * 4, 3);
  return __savePPM(path, bytes.data(), width, height, 3);
}

// ---- Numbers in text files, and raw ones
template <class T>
inline bool sdkReadFile(const char* path, T** data, unsigned int* count, bool) {
  std::ifstream in(path);
  if (!in) return false;
  std::vector<T> values;
  for (T value; in >> value;) values.push_back(value);
  if (!*data) *data = static_cast<T*>(malloc(values.size() * sizeof(T)));
  memcpy(*data, values.data(), values.size() * sizeof(T));
  *count = static_cast<unsigned int>(values.size());
  return true;
}
template <class T, class S>
inline bool sdkWriteFile(const char* path, const T* data, unsigned int count, const S epsilon, bool,
                         bool append = false) {
  std::ofstream out(path, append ? std::ios::app : std::ios::out);
  out << "# " << epsilon << "\n";
  for (unsigned int i = 0; i < count; i++) out << data[i] << ' ';
  out << std::endl;
  return out.good();
}
inline void sdkDumpBin(void* data, unsigned int bytes, const char* path) {
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), bytes);
}
inline void sdkDumpBin2(void* data, unsigned int bytes, const char* path) {
  sdkDumpBin(data, bytes, path);
}

// ---- Comparisons
// How many may differ: a share of all, `threshold`.
template <class T, class S>
inline bool compareData(const T* reference, const T* data, const unsigned int count, const S epsilon,
                        const float threshold) {
  unsigned int wrong = 0;
  for (unsigned int i = 0; i < count; i++) {
    const double difference = static_cast<double>(reference[i]) - static_cast<double>(data[i]);
    if (!(fabs(difference) <= static_cast<double>(epsilon))) wrong++;
  }
  return threshold == 0.0f ? wrong == 0 : static_cast<float>(count) * threshold > static_cast<float>(wrong);
}
// The error relative to the reference, as vectors.
inline bool sdkCompareL2fe(const float* reference, const float* data, const unsigned int count, const float epsilon) {
  double error = 0, norm = 0;
  for (unsigned int i = 0; i < count; i++) {
    const double difference = static_cast<double>(reference[i]) - data[i];
    error += difference * difference;
    norm += static_cast<double>(reference[i]) * reference[i];
  }
  return norm > 1e-14 && sqrt(error) / sqrt(norm) < epsilon;
}
inline bool wgReadBinary(const char* path, const char* program, std::vector<char>& out) {
  char* found = sdkFindFilePath(path, program);
  std::ifstream in(found ? found : path, std::ios::binary);
  free(found);
  if (!in) return false;
  out.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return true;
}
template <class T, class S>
inline bool sdkCompareBin2BinUint(const char* source, const char* reference, unsigned int count, const S epsilon,
                                  const float threshold, char* program) {
  std::vector<char> a, b;
  if (!wgReadBinary(source, program, a) || !wgReadBinary(reference, program, b)) return false;
  if (a.size() < count * sizeof(T) || b.size() < count * sizeof(T)) return false;
  return compareData(reinterpret_cast<const T*>(b.data()), reinterpret_cast<const T*>(a.data()), count, epsilon,
                     threshold);
}
inline bool sdkCompareBin2BinFloat(const char* source, const char* reference, unsigned int count, const float epsilon,
                                   const float threshold, char* program) {
  return sdkCompareBin2BinUint<float>(source, reference, count, epsilon, threshold, program);
}
inline bool wgComparePictures(const char* source, const char* reference, const float epsilon, const float threshold) {
  unsigned char *a = NULL, *b = NULL;
  unsigned int aw = 0, ah = 0, ac = 0, bw = 0, bh = 0, bc = 0;
  const bool read = __loadPPM(source, &a, &aw, &ah, &ac) && __loadPPM(reference, &b, &bw, &bh, &bc);
  const bool same = read && aw == bw && ah == bh && ac == bc && compareData(b, a, aw * ah * ac, epsilon, threshold);
  free(a);
  free(b);
  return same;
}
inline bool sdkComparePPM(const char* source, const char* reference, const float epsilon, const float threshold, bool) {
  return wgComparePictures(source, reference, epsilon, threshold);
}
inline bool sdkComparePGM(const char* source, const char* reference, const float epsilon, const float threshold, bool) {
  return wgComparePictures(source, reference, epsilon, threshold);
}

#endif
