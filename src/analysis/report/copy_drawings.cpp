#include "report/copy_drawings.h"

#include <string>

#include "base/json.h"
#include "gpu/gpu_model.h"
#include "report/tensor_view.h"
#include "report/tile_view.h"
#include "results/member_json.h"
#include "results/profile_members.h"

namespace warpgrind::report {
namespace {

using DrawnJson = nlohmann::ordered_json;

// Calls f(element) for the objects of the list `key`, if there is one.
template <class F>
void each_of(DrawnJson& object, const char* key, F&& f) {
  const auto list = object.find(key);
  if (list == object.end() || !list->is_array()) return;
  for (DrawnJson& element : *list)
    if (element.is_object()) f(element);
}

template <class T, class Text>
void add_drawing(DrawnJson& object, Text&& text) {
  T value;
  if (results::JsonReader::read(object, value).empty()) object["drawing"] = text(value);
}

// Only what the drawings need: the places of the sites.
results::KernelProfile sites_of(DrawnJson& kernel) {
  results::KernelProfile out;
  each_of(kernel, "sites", [&](DrawnJson& s) {
    results::SiteProfile& site = out.sites.emplace_back();
    site.id = json::get<std::uint32_t>(s, "id");
    site.file = json::get<std::string>(s, "file");
    site.line = json::get<std::uint32_t>(s, "line");
    site.ptx_line = json::get<std::uint32_t>(s, "ptx_line");
  });
  return out;
}

void draw_site(DrawnJson& site, const results::KernelProfile& kernel, const GpuModel& model) {
  each_of(site, "copies", [&](DrawnJson& j) {
    add_drawing<results::TensorCopyProfile>(j, [&](const auto& c) { return tensor_copy_text(c, model, {}); });
  });
  each_of(site, "operands", [&](DrawnJson& j) {
    add_drawing<results::OperandProfile>(j, [&](const auto& o) { return operand_view(o, kernel, model); });
  });
  const std::string kind = json::get<std::string>(site, "kind");
  each_of(site, "patterns", [&](DrawnJson& j) {
    if (j.find("tile") == j.end()) return;
    add_drawing<results::AccessPattern>(
        j, [&](const auto& p) { return p.tile ? tile_view(p, kind, kernel, model) : std::string(); });
  });
}

}  // namespace

void add_copy_drawings(nlohmann::ordered_json& profile) {
  const std::string gpu = json::get<std::string>(profile, "gpu");
  const GpuModel* model = nullptr;
  for (const GpuModel& m : gpu_models())
    if (m.name == gpu || m.id == gpu) model = &m;
  if (model == nullptr) return;
  each_of(profile, "kernels", [&](DrawnJson& kernel) {
    const results::KernelProfile sites = sites_of(kernel);
    each_of(kernel, "sites", [&](DrawnJson& site) { draw_site(site, sites, *model); });
  });
}

}  // namespace warpgrind::report
