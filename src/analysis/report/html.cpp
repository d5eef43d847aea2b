#include "report/html.h"

#include <fmt/format.h>

#include <string_view>

#include "report/page_data.h"

// The page made by web/build.mjs; empty if node or its packages were missing (src/analysis/report/folder.cmake).
__asm__(
    ".pushsection .rodata.warpgrind_page,\"a\",@progbits\n"
    ".hidden warpgrind_page\n"
    ".hidden warpgrind_page_end\n"
    ".globl warpgrind_page\n"
    ".globl warpgrind_page_end\n"
    "warpgrind_page:\n"
    ".incbin \"" WARPGRIND_PAGE
    "\"\n"
    "warpgrind_page_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" const char warpgrind_page[];      // NOLINT: defined in the assembly
extern "C" const char warpgrind_page_end[];  // NOLINT

namespace warpgrind::report {
namespace {

constexpr std::string_view kMarker = "<!--WARPGRIND-DATA-->";

std::string_view page() {
  return {warpgrind_page, static_cast<std::size_t>(warpgrind_page_end - warpgrind_page)};
}

}  // namespace

Status html_available() {
  if (page().find(kMarker) != std::string_view::npos) return Ok{};
  return Error{ErrorKind::environment, "this build of warpgrind has no report page",
               "it is bundled by node when warpgrind is built: install nodejs and npm, then build again; --json and "
               "`warpgrind show` need neither"};
}

Result<std::string> html_report(const HtmlInput& input) {
  if (Status available = html_available(); !available) return available.error();
  auto data = page_data(input);
  if (!data) return data.error();
  const std::string_view text = page();
  const std::size_t at = text.find(kMarker);
  std::string out;
  out.reserve(text.size() + data->size());
  out += text.substr(0, at);
  out += *data;
  out += text.substr(at + kMarker.size());
  return out;
}

}  // namespace warpgrind::report
