// Subcommand `warpgrind lab`: the topics of the lab, on the virtual GPU or measured on a real one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpgrind::cli {

struct LabCommand {
  std::vector<std::string> topics;  // empty: list them; "all": every topic
  bool list = false, full = false, fresh = false, no_models = false, brief = false, table = false, no_cache = false;
  bool no_large = false, steps = false;
  std::string gpu = "h200", on = "virtual", sizes, type, json_path, csv_path, report_path, compare_path, programs,
              cache;
  std::vector<std::string> rungs;
  std::uint64_t sample_blocks = 0;  // 0: all blocks run
  unsigned threads = 0;
  double timeout_seconds = 0;
  std::vector<std::string> topic_options;  // remaining words of the command line: --NAME VALUE of the topic
};
int lab(const LabCommand& command);

}  // namespace warpgrind::cli
