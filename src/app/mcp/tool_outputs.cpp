// Schemas of structured results. They name types; the names of the members say the rest, with their units.
#include "mcp/tool_outputs.h"

#include <initializer_list>
#include <utility>

namespace warpgrind::mcp {

namespace {

Json of(const char* type) {
  return {{"type", type}};
}

Json list_of(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

Json texts() {
  return list_of(of("string"));
}

Json record(const Json& properties) {
  return {{"type", "object"}, {"properties", properties}};
}

Json records(const Json& properties) {
  return list_of(record(properties));
}

// Members of one type.
void add(Json& properties, const char* type, std::initializer_list<const char*> names) {
  for (const char* name : names) properties[name] = of(type);
}

Json described(const char* type, const char* description) {
  return {{"type", type}, {"description", description}};
}

// Of all tools: why there is no result.
Json result(Json properties) {
  add(properties, "string", {"problem", "detail", "program", "gpu", "end", "output"});
  if (!properties.contains("status")) properties["status"] = described("string", "only if there is no result: why");
  return record(properties);
}

Json change() {
  Json out;
  add(out, "string", {"figure", "unit", "origin", "verdict"});
  add(out, "number", {"before", "after"});
  return out;
}

Json kernel() {
  Json out, access, shared, bandwidth, arithmetic, advice;
  add(shared, "number", {"wavefronts", "ideal_wavefronts", "bank_conflicts"});
  add(bandwidth, "number", {"asked_gb_s", "dram_gb_s", "dram_theoretical_gb_s", "dram_percent_of_theoretical"});
  add(arithmetic, "number", {"gflop_s", "fp32_peak_gflop_s", "fp64_peak_gflop_s", "percent_of_peak"});
  add(out, "string",
      {"name", "grid", "block", "time_origin", "bound_by", "next_bound", "occupancy_limited_by", "registers_origin"});
  add(out, "number",
      {"launches", "time_us", "next_bound_at_percent_less", "occupancy_percent", "waves", "registers",
       "spilled_register_requests", "local_memory_sectors", "l2_hit_percent", "lanes_active_of_32",
       "divergent_branches_percent"});
  out["shapes_differ"] = of("boolean");
  out["time_range_us"] = list_of(of("number"));
  out["metrics"] = of("object");
  add(access, "number", {"requests", "sectors_per_request", "bytes_used_percent"});
  for (const char* name : {"global_loads", "global_stores", "global_atomics", "global_reductions"})
    out[name] = record(access);
  out["shared_memory"] = record(shared);
  out["bandwidth"] = record(bandwidth);
  out["arithmetic"] = record(arithmetic);
  add(advice, "string", {"rule", "title", "text"});
  advice["estimated_saving_percent"] = of("number");
  advice["at"] = texts();
  out["advice"] = records(advice);
  return out;
}

}  // namespace

Json run_output() {
  Json out;
  out["run"] = described("string", "name for explain and diff");
  out["status"] = described("string", "ran, failed, no_kernel_ran, faulted, did_not_compile, did_not_start or refused");
  add(out, "boolean", {"verified", "expectations_hold"});
  out["verification"] = of("string");
  for (const char* name : {"faults", "expectations", "not_supported", "not_proven", "never_ran", "next"})
    out[name] = texts();
  out["kernels"] = records(kernel());
  return result(std::move(out));
}

Json check_output() {
  Json out, finding, access;
  out["status"] =
      described("string", "clean, findings, not_whole, no_findings_file, did_not_compile, did_not_start or refused");
  out["verified"] = of("boolean");
  add(out, "integer", {"errors", "warnings", "infos"});
  out["not_proven"] = texts();
  add(access, "string", {"access", "at", "object"});
  for (const char* name : {"block", "thread"}) access[name] = list_of(of("integer"));
  add(finding, "string", {"kind", "severity", "what", "at", "kernel", "origin", "cause", "missing", "do"});
  finding["times"] = of("integer");
  finding["why"] = texts();
  finding["accesses"] = records(access);
  out["findings"] = records(finding);
  return result(std::move(out));
}

Json explain_output() {
  Json out, access;
  add(out, "string", {"run", "kernel", "drawing"});
  out["line"] = of("integer");
  add(access, "string", {"kind", "space", "ptx"});
  add(access, "number", {"typical_requests", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts"});
  out["accesses"] = records(access);
  return result(std::move(out));
}

Json diff_output() {
  Json out, line, compared;
  add(out, "string", {"before", "after"});
  out["verification"] = of("object");
  for (const char* name : {"unchanged", "only_before", "only_after", "not_proven"}) out[name] = texts();
  add(line, "string", {"at", "text"});
  line["changes"] = records(change());
  add(compared, "string", {"before", "after", "verdict", "bound_by_before", "bound_by_after", "next_advice"});
  add(compared, "number", {"time_us_before", "time_us_after"});
  compared["changes"] = records(change());
  compared["lines"] = records(line);
  out["kernels"] = records(compared);
  return result(std::move(out));
}

Json scan_output() {
  Json out;
  out["kernels"] = list_of(of("object"));
  out["not_supported"] = texts();
  out["compiles_at_run_time"] = of("boolean");
  out["opcodes"] = described("object", "how often each occurs, the most frequent");
  return result(std::move(out));
}

Json exercise_output() {
  Json out, one;
  add(out, "string", {"exercise", "task", "skeleton", "hint"});
  out["hints"] = described("integer", "how many there are");
  add(out, "integer", {"step", "of"});
  out["passed"] = of("boolean");
  out["rubric"] = list_of(of("object"));
  add(one, "string", {"name", "topic", "title"});
  one["level"] = of("integer");
  out["exercises"] = records(one);
  return result(std::move(out));
}

}  // namespace warpgrind::mcp
