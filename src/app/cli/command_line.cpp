// JSON description of warpgrind's command line, from its CLI11 options.
#include "cli/command_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/edit_distance.h"
#include "gpu/gpu_model.h"

namespace warpgrind::cli {
namespace {

using nlohmann::json;

// CLI11 keeps the words of IsMember only in the name of the type: "TEXT:{auto,nvidia,ours}".
json choices_of(const CLI::Option& option) {
  json out = json::array();
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return out;
  for (const std::string& word : CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',')) out.push_back(word);
  return out;
}

std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find_first_of(":{ "));
}

json option_json(const CLI::Option& option) {
  json names = json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  json choices = choices_of(option);
  // GPU models are choices that CLI11 does not know. A model's file is possible, too.
  const std::string& what = option.get_description();
  if (what.find("see `warpgrind gpus`") != std::string::npos)
    for (const GpuModel& model : gpu_models()) choices.push_back(model.id);
  // The default cache folder is that of the building user, so the pages do not show it.
  std::string preset = option.get_default_str();
  if (preset.starts_with("/")) preset.clear();
  return {{"names", names},
          {"positional", option.get_positional() ? option.get_name(true) : ""},
          {"what", what},
          {"group", option.get_group()},
          {"type", type_of(option)},
          {"choices", choices},
          {"default", preset},
          {"takes_value", option.get_items_expected_max() > 0},
          {"required", option.get_required()},
          {"several", option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll}};
}

json app_json(const CLI::App& app) {
  json options = json::array(), commands = json::array();
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) options.push_back(option_json(*option));
  for (const CLI::App* command : app.get_subcommands(nullptr))
    if (!command->get_group().empty()) commands.push_back(app_json(*command));
  return {{"name", app.get_name()},
          {"what", app.get_description()},
          {"footer", app.get_footer()},
          {"options", options},
          {"commands", commands}};
}

}  // namespace

std::string command_line_json(const CLI::App& app) {
  json out = app_json(app);
  out["version"] = WARPGRIND_VERSION;
  return out.dump(1) + "\n";
}

bool refuse_unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return false;
  const std::string& word = arguments[0];
  std::string_view meant;
  std::size_t least = 3;  // letters that may differ
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == word) return false;
    const std::size_t distance = edit_distance(word, command->get_name());
    if (distance >= least) continue;
    least = distance;
    meant = command->get_name();
  }
  // Words that documents use for a command.
  constexpr std::pair<std::string_view, std::string_view> kOther[] = {
      {"playground", "serve"}, {"debugger", "debug"}, {"gdb", "debug"},  {"profile", "run"},
      {"memcheck", "check"},   {"compile", "nvcc"},   {"vscode", "dap"}, {"adapter", "dap"}};
  for (const auto& [other, command] : kOther)
    if (word == other) meant = command;
  const std::string list = "warpgrind --help lists the commands";
  if (word.find('/') != std::string::npos || word.ends_with(".cu"))
    complain(fmt::format("a command is missing before {}", word), fmt::format("warpgrind run {}; {}", word, list));
  else
    complain(fmt::format("there is no command \"{}\"", word),
             meant.empty() ? list : fmt::format("did you mean {}? {}", meant, list));
  return true;
}

}  // namespace warpgrind::cli
