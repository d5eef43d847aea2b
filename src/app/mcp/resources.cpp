// Documents of the server.
#include "mcp/resources.h"

#include <fmt/format.h>

#include <string_view>

#include "advice/rules.h"
#include "counters/metric_table.h"
#include "gpu/gpu_model.h"
#include "report/gpus.h"

namespace warpgrind::mcp {

namespace {

struct Document {
  const char* uri;
  const char* name;
  const char* title;
  const char* description;
  const char* type;
  std::string (*text)();
};
constexpr Document kDocuments[] = {
    {"warpgrind://rules", "rules", "Rules of the advice",
     "When each piece of advice is given, and how its gain is estimated", "text/markdown", advice::rules_as_markdown},
    {"warpgrind://counters", "counters", "Counters",
     "Name, unit, origin and definition of every counter (70 KB; warpgrind://counters/NAME has one)", "text/markdown",
     counters::metrics_as_markdown},
    {"warpgrind://gpus", "gpus", "GPU models", "Names for the argument `gpu`, and their figures", "text/plain",
     report::gpus_text},
};
constexpr std::string_view kCounter = "warpgrind://counters/", kGpu = "warpgrind://gpus/";

Json contents(const std::string& uri, const char* type, const std::string& text) {
  return {{"contents", Json::array({{{"uri", uri}, {"mimeType", type}, {"text", text}}})}};
}

Result<Json> counter(const std::string& uri) {
  const std::string name = uri.substr(kCounter.size());
  const auto id = counters::find_metric_or_alias(name);
  if (!id) {
    std::string near;
    for (const std::string& other : counters::similar_metrics(name)) near += (near.empty() ? "" : ", ") + other;
    return Error{ErrorKind::bad_input,
                 fmt::format("there is no counter \"{}\"; similar ones: {}", name.substr(0, 80), near), ""};
  }
  const counters::MetricRow& row = counters::row(*id);
  return contents(uri, "text/plain",
                  fmt::format("{} ({}): {}\n", row.name, *row.unit ? row.unit : "no unit", row.definition));
}

Result<Json> gpu(const std::string& uri) {
  const std::string name = uri.substr(kGpu.size());
  for (const GpuModel& model : gpu_models())  // by name alone: find_gpu_model() would also read files
    if (model.id == name) return contents(uri, "text/plain", report::gpu_text(model));
  return Error{ErrorKind::bad_input, fmt::format("there is no GPU model \"{}\"", name.substr(0, 80)), ""};
}

}  // namespace

Json resource_list() {
  Json list = Json::array();
  for (const Document& d : kDocuments)
    list.push_back(
        {{"uri", d.uri}, {"name", d.name}, {"title", d.title}, {"description", d.description}, {"mimeType", d.type}});
  return {{"resources", std::move(list)}};
}

Json resource_templates() {
  return {{"resourceTemplates", Json::array({{{"uriTemplate", "warpgrind://counters/{name}"},
                                              {"name", "counter"},
                                              {"title", "One counter"},
                                              {"description", "Definition of a counter, by its name or short name"},
                                              {"mimeType", "text/plain"}},
                                             {{"uriTemplate", "warpgrind://gpus/{name}"},
                                              {"name", "gpu"},
                                              {"title", "One GPU model"},
                                              {"description", "Figures of a GPU model, and where they come from"},
                                              {"mimeType", "text/plain"}}})}};
}

Result<Json> read_resource(const std::string& uri) {
  for (const Document& d : kDocuments)
    if (uri == d.uri) return contents(uri, d.type, d.text());
  if (uri.starts_with(kCounter)) return counter(uri);
  if (uri.starts_with(kGpu)) return gpu(uri);
  return Error{ErrorKind::bad_input, fmt::format("there is no resource \"{}\"", uri.substr(0, 100)), ""};
}

}  // namespace warpgrind::mcp
