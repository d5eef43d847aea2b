#include "serve/page.h"

// Embeds the files that web/build.mjs makes. Both are empty if node or its packages were missing
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

EMBED(warpgrind_playground_script, WARPGRIND_PLAYGROUND ".js");
EMBED(warpgrind_playground_style, WARPGRIND_PLAYGROUND ".css");

namespace warpgrind::serve {

std::string_view page_script() {
  return {warpgrind_playground_script,
          static_cast<std::size_t>(warpgrind_playground_script_end - warpgrind_playground_script)};
}

std::string_view page_style() {
  return {warpgrind_playground_style,
          static_cast<std::size_t>(warpgrind_playground_style_end - warpgrind_playground_style)};
}

Status page_available() {
  if (!page_script().empty()) return Ok{};
  return Error{ErrorKind::environment, "this build of warpgrind has no playground",
               "its page is bundled by node when warpgrind is built: install nodejs and npm, then build again"};
}

}  // namespace warpgrind::serve
