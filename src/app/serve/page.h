// Files of the page, built from web/ together with warpgrind. Browsers keep them and ask whether they changed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace warpgrind::serve {

struct PageFile {
  const char* path;  // in an address: "/playground.js"
  const char* type;
  std::string_view text, gzip;  // gzip: the text, compressed
  std::string tag;              // of the text, quoted: the file's ETag
};
const std::vector<PageFile>& page_files();
Status page_available();  // an error if this build had no node

struct PageAnswer {
  int status = 200;  // 304, without a body: the browser has this text
  std::string_view body;
  std::vector<std::pair<const char*, std::string>> headers;
};
// `known` and `encodings`: If-None-Match and Accept-Encoding of the request.
PageAnswer answer_file(const PageFile& file, std::string_view known, std::string_view encodings);

}  // namespace warpgrind::serve
