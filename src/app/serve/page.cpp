#include "serve/page.h"

#include "base/digest.h"

// Embeds the files that web/build.mjs makes. They are empty if node or its packages were missing
// (src/analysis/report/folder.cmake).
#define EMBED(name, path)                                                  \
  __asm__(".pushsection .rodata." #name                                    \
          ",\"a\",@progbits\n"                                             \
          ".hidden " #name "\n.hidden " #name                              \
          "_end\n"                                                         \
          ".globl " #name "\n.globl " #name "_end\n" #name                 \
          ":\n"                                                            \
          ".incbin \"" path "\"\n" #name "_end:\n.byte 0\n.popsection\n"); \
  extern "C" const char name[], name##_end[] /* NOLINT: named in the assembly */

// A file and its compressed text.
#define EMBED_BOTH(name, path) \
  EMBED(name, path);           \
  EMBED(name##_gzip, path ".gz")

EMBED_BOTH(warpgrind_playground_script, WARPGRIND_PLAYGROUND ".js");
EMBED_BOTH(warpgrind_playground_charts, WARPGRIND_PLAYGROUND "-echarts.js");
EMBED_BOTH(warpgrind_playground_style, WARPGRIND_PLAYGROUND ".css");
EMBED_BOTH(warpgrind_playground_licences, WARPGRIND_PLAYGROUND "-licences.txt");

namespace warpgrind::serve {

namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

#define BOTH(name) between(name, name##_end), between(name##_gzip, name##_gzip_end)

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> files = [] {
    constexpr const char* kScript = "text/javascript; charset=utf-8";
    std::vector<PageFile> out = {
        {"/playground.js", kScript, BOTH(warpgrind_playground_script), ""},
        {"/playground-echarts.js", kScript, BOTH(warpgrind_playground_charts), ""},
        {"/playground.css", "text/css; charset=utf-8", BOTH(warpgrind_playground_style), ""},
        {"/playground-licences.txt", "text/plain; charset=utf-8", BOTH(warpgrind_playground_licences), ""}};
    for (PageFile& file : out) file.tag = '"' + digest(file.text) + '"';
    return out;
  }();
  return files;
}

PageAnswer answer_file(const PageFile& file, std::string_view known, std::string_view encodings) {
  PageAnswer answer;
  answer.headers = {{"Cache-Control", "no-cache"}, {"ETag", file.tag}, {"Vary", "Accept-Encoding"}};
  if (known.find(file.tag) != std::string_view::npos) {
    answer.status = 304;
    return answer;
  }
  const bool compressed = encodings.find("gzip") != std::string_view::npos;
  if (compressed) answer.headers.emplace_back("Content-Encoding", "gzip");
  answer.body = compressed ? file.gzip : file.text;
  return answer;
}

Status page_available() {
  if (!page_files().front().text.empty()) return Ok{};
  return Error{ErrorKind::environment, "this build of warpgrind has no playground",
               "its page is bundled by node when warpgrind is built: install nodejs and npm, then build again"};
}

}  // namespace warpgrind::serve
