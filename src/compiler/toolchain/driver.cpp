// Driver of `warpgrind nvcc`: compiles the units in parallel, retries them with rewritten sources where clang refuses a
// spelling or a launch, and links.
#include "toolchain/driver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/assert.h"
#include "base/file.h"
#include "base/installation.h"
#include "base/signal_mask.h"
#include "base/temporary_folder.h"
#include "fatbin/write.h"
#include "toolchain/cluster_dimensions.h"
#include "toolchain/dependencies.h"
#include "toolchain/device_launch.h"
#include "toolchain/device_link.h"
#include "toolchain/help.h"
#include "toolchain/inlined_places.h"
#include "toolchain/messages.h"
#include "toolchain/precompiled_headers.h"
#include "toolchain/spellings.h"
#include "toolchain/static_variables.h"

namespace warpgrind::toolchain {

namespace {

namespace fs = std::filesystem;

void say(const Error& error) {
  std::fputs(fmt::format("warpgrind nvcc: {}\n", error.message).c_str(), stderr);
  if (!error.detail.empty()) std::fputs(fmt::format("  {}\n", error.detail).c_str(), stderr);
}

std::string content_of(const std::string& path) {
  return read_whole(path).value_or("");
}

// No path: standard output.
Status write_output(const std::string& path, const std::string& content) {
  return write_whole(path.empty() ? "-" : path, content);
}

// Removes the options that respell() added: the overlay has these files too.
void without_remapped_files(Words& command) {
  for (auto at = std::find(command.begin(), command.end(), "-remap-file"); at != command.end();
       at = std::find(command.begin(), command.end(), "-remap-file"))
    command.erase(at - 1, at + 3);  // -Xclang -remap-file -Xclang FROM;TO
}

class Driver {
 public:
  Driver(const Request& request, const Toolkit& toolkit, const Surroundings& surroundings, const std::string& folder)
      : request_(request), toolkit_(toolkit), plan_(make_plan(request, toolkit, surroundings, folder)) {
    compiler_variables_ = plan_.variables;
    append(compiler_variables_, plan_.large_pages);
    const unsigned asked = request.threads == 0 ? surroundings.cores : request.threads;
    at_once_ = std::max(1U, asked);
    if (surroundings.uses_precompiled_headers)
      headers_ = {toolkit, {surroundings.precompiled_headers, toolkit.libraries + "/prepared/headers"}};
  }

  Outcome run() {
    if (request_.dryrun || request_.verbose) show_settings();
    if (request_.dryrun) {
      show_plan();
      return {};
    }
    if (Status s = write_output(plan_.placeholder, fatbin::make_fatbin({})); !s) return failed(s.error());
    const bool good = compile() && link();
    if (outcome_.signal != 0 || !good) remove_unfinished();
    if (outcome_.exit_code == 0 && outcome_.signal == 0 && request_.then_run) run_program();
    return outcome_;
  }

 private:
  // ---- Output of -v and --dryrun; CMake reads these lines.
  void show_settings() const {
    // nvcc prints the places of its toolkit's parts under these names and in this form.
    std::fputs(
        fmt::format("#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n#$ PATH={0}/bin\n"
                    "#$ INCLUDES=-I{1}\n#$ LIBRARIES={2}\n#$ DEVICE=-arch compute_{3}\n",
                    toolkit_.folder, toolkit_.headers, quoted({"-L" + toolkit_.links}), request_.architecture.number)
            .c_str(),
        stderr);
  }
  static void show(const Words& command) {
    if (!command.empty()) std::fputs(fmt::format("#$ {}\n", quoted(command)).c_str(), stderr);
  }
  void show_plan() const {
    for (const Unit& unit : plan_.units) {
      show(unit.device);
      show(unit.host);
    }
    if (!plan_.archive.empty()) show(with_objects(plan_.archive));
    if (request_.phase == Phase::device_link) show(plan_.stub_command);
    if (!plan_.link.empty()) show(with_objects(plan_.link));
  }

  void pass_on(const std::string& said) {
    const std::string shown = said + hints_for(said);
    std::fputs(shown.c_str(), stderr);
    outcome_.messages += shown;
  }

  // ---- Compiling
  struct Making {
    const Words* flags;  // of the pass that gets it
    PrecompiledHeaders::Making making;
  };
  struct Running {
    Unit* unit;
    int passes = 0;
    bool failed = false;
    bool again = false;                                    // after a first attempt: without precompiled headers
    std::map<int, Making> makings = {};                    // by child; until they have ended, no pass runs
    std::map<const Words*, std::string> precompiled = {};  // files that the passes use, by the flags of each
    std::map<const Words*, std::string> suspects = {};     // those of an attempt that failed
    std::map<std::string, std::string> copies = {};        // of sources, respelt for clang (spellings.h)
    LaunchRewriting launches = {};
    bool launches_rewritten = false;
  };

  bool compile() {
    std::map<int, std::size_t> unit_of;  // by child
    std::vector<Running> units;
    for (Unit& unit : plan_.units) units.push_back({&unit});
    WG_ASSERT(at_once_ > 0);
    std::size_t next = 0, open = 0;
    bool good = true;
    while (next < units.size() || open > 0) {
      if (next < units.size() && open < at_once_ && good) {
        if (!start(units[next], next, unit_of)) return false;
        if (units[next].passes > 0) {
          open++;
        } else if (!finish(units[next])) {
          good = false;
        }
        next++;
        continue;
      }
      if (open == 0) break;
      const Children::Ended ended = children_.wait();
      if (ended.signal != 0) {
        outcome_.signal = ended.signal;
        return false;
      }
      WG_ASSERT(unit_of.contains(ended.child) && units[unit_of[ended.child]].passes > 0 && open > 0);
      Running& running = units[unit_of[ended.child]];
      if (const auto making = running.makings.find(ended.child); making != running.makings.end()) {
        if (const auto file = headers_.keep(making->second.making, ended.exit_code == 0))
          running.precompiled[making->second.flags] = *file;
        running.makings.erase(making);
        if (--running.passes == 0 && !start_passes(running, unit_of[ended.child], unit_of)) return false;
        continue;
      }
      if (ended.exit_code != 0) running.failed = true;
      if (--running.passes > 0) continue;
      running.again = true;
      if (running.failed && (without_precompiled_headers(running) || respell(running) || rewrite_launches(running))) {
        running.failed = false;
        if (!start(running, unit_of[ended.child], unit_of)) return false;
        continue;
      }
      open--;
      if (!finish(running)) good = false;
    }
    if (!good) outcome_.exit_code = 1;
    return good;
  }

  // Starts the passes of a unit, or what makes their precompiled headers.
  bool start(Running& running, std::size_t index, std::map<int, std::size_t>& unit_of) {
    WG_ASSERT(running.passes == 0);
    const Unit& unit = *running.unit;
    if (running.again || !headers_.enabled()) return start_passes(running, index, unit_of);
    const HeaderBase base = base_for(content_of(unit.input.path));
    for (const auto& [command, flags] :
         {std::pair(&unit.device, &unit.device_flags), std::pair(&unit.host, &unit.host_flags)}) {
      if (command->empty() || flags->empty()) continue;
      const PrecompiledHeaders::Pass pass{*flags, plan_.variables, base};
      if (const auto file = headers_.find(pass)) running.precompiled[flags] = *file;
      if (running.precompiled.contains(flags) || !headers_.lacked_before(pass)) continue;
      const auto making = headers_.make(pass, fs::path(plan_.placeholder).parent_path().string());
      if (!making) continue;
      if (request_.verbose) show(making->command);
      const auto child = children_.start(making->command, making->messages, compiler_variables_);
      if (!child) return failed(child.error()), false;
      unit_of[*child] = index;
      running.makings.emplace(*child, Making{flags, *making});
      running.passes++;
    }
    return running.passes > 0 || start_passes(running, index, unit_of);
  }

  static Words with_precompiled_header(const Words& command, const Words& flags, const std::string& file) {
    WG_ASSERT(flags.size() <= command.size());
    Words out = flags;
    append(out, {"-Xclang", "-include-pch", "-Xclang", file});
    out.insert(out.end(), command.begin() + static_cast<std::ptrdiff_t>(flags.size()), command.end());
    return out;
  }

  // True: a pass failed that used a precompiled header. It should try again without: clang may not have been able to
  // read it, or found fault with what a header has only if it is precompiled.
  static bool without_precompiled_headers(Running& running) {
    running.suspects = std::exchange(running.precompiled, {});
    return !running.suspects.empty();
  }
  // The sources are good, so the headers were not.
  void refuse_suspects(const Running& running) const {
    for (const auto& [flags, file] : running.suspects) headers_.refuse(file);
  }

  bool start_passes(Running& running, std::size_t index, std::map<int, std::size_t>& unit_of) {
    WG_ASSERT(running.passes == 0);
    const Unit& unit = *running.unit;
    for (const auto& [plain, flags, messages] : {std::tuple(&unit.device, &unit.device_flags, &unit.device_messages),
                                                 std::tuple(&unit.host, &unit.host_flags, &unit.host_messages)}) {
      if (plain->empty()) continue;
      const auto file = running.precompiled.find(flags);
      const Words command =
          file == running.precompiled.end() ? *plain : with_precompiled_header(*plain, *flags, file->second);
      if (request_.verbose) show(command);
      const auto child = children_.start(command, *messages, compiler_variables_);
      if (!child) return failed(child.error()), false;
      unit_of[*child] = index;
      running.passes++;
    }
    if (request_.phase != Phase::preprocess && !unit.output.empty()) unfinished_.push_back(unit.output);
    return true;
  }

  // Copies the files in which clang refused a spelling that nvcc accepts, with clang's spelling. True: clang should try
  // again. Each attempt leaves fewer refused places.
  bool respell(Running& running) const {
    if (running.launches_rewritten) return false;  // the places refer to rewritten texts
    Unit& unit = *running.unit;
    WG_ASSERT(running.failed && running.passes == 0);
    bool changed = false;
    const std::string said = content_of(unit.host_messages) + content_of(unit.device_messages);
    for (const auto& [file, places] : refused_spellings(said)) {
      const auto copied = running.copies.find(file);
      const bool first = copied == running.copies.end();
      const std::string before = content_of(first ? file : copied->second);
      const std::string after = respelt(before, places);
      if (after == before || file.find(';') != std::string::npos) continue;
      const std::string copy =
          first ? fmt::format("{}.respelt{}", unit.host_messages, running.copies.size()) : copied->second;
      if (!write_output(copy, after)) continue;
      changed = true;
      if (!first) continue;
      running.copies[file] = copy;
      for (Words* command : {&unit.host, &unit.device})
        if (!command->empty())
          for (const std::string& word : {std::string("-ferror-limit=0"), std::string("-Xclang"),
                                          std::string("-remap-file"), std::string("-Xclang"), file + ";" + copy})
            command->push_back(word);
    }
    return changed;
  }

  // Rewrites the launches in device code that clang refused, for its next attempt. True: there were some.
  bool rewrite_launches(Running& running) {
    Unit& unit = *running.unit;
    if (!request_.relocatable || unit.device.empty()) return false;
    std::vector<std::string> files = {unit.input.path};
    if (auto read = read_dependencies(unit.device_rules)) files = read.take();
    PrecompiledHeaders::tidy(files, unit.input.path);
    std::erase_if(files, [this](const std::string& file) { return file.starts_with(toolkit_.headers); });
    const auto words =
        running.launches.next_round(unit.host.empty() ? "" : content_of(unit.host_messages),
                                    content_of(unit.device_messages), files, running.copies, unit.device_rules);
    if (!words) return failed(words.error()), false;
    if (!*words) return false;
    if (!running.launches_rewritten) {
      const std::string macro = fmt::format("-DWARPGRIND_DEVICE_LAUNCHES=\"{}\"", unit.unique);
      for (const auto& [command, overlay] :
           {std::pair(&unit.host, &(*words)->host), std::pair(&unit.device, &(*words)->device)}) {
        if (command->empty()) continue;
        without_remapped_files(*command);
        command->push_back(macro);
        append(*command, *overlay);
      }
    }
    return running.launches_rewritten = true;
  }

  // Runs after both passes have ended: prints their messages, writes the dependencies, and puts the fatbin in its
  // place.
  bool finish(const Running& running) {
    WG_ASSERT(running.passes == 0);
    const Unit& unit = *running.unit;
    const std::string host = unit.host.empty() ? "" : content_of(unit.host_messages);
    // After a rewriting, the device half's text is no longer the user's: the host half's errors are enough.
    const bool enough = running.launches_rewritten && host.find("error: ") != std::string::npos;
    const std::string said =
        merged_messages(host, unit.device.empty() || enough ? "" : content_of(unit.device_messages));
    pass_on(said);
    if (running.failed && !request_.relocatable && !device_launches(said).empty())
      pass_on("  kernels are launched from device code: that takes -rdc=true (separate compilation)\n");
    if (running.failed) return false;
    if (running.copies.empty() && !running.launches_rewritten) refuse_suspects(running);
    Status s = write_rules(unit);
    if (s) s = join(unit);
    if (!s) return failed(s.error()), false;
    return true;
  }

  Status write_rules(const Unit& unit) {
    std::vector<std::string> files;
    for (const auto& [command, rules] :
         {std::pair(&unit.host, &unit.host_rules), std::pair(&unit.device, &unit.device_rules)}) {
      if (command->empty() || request_.phase == Phase::preprocess) continue;
      auto read = read_dependencies(*rules);
      if (!read) return read.error();
      std::erase(*read, plan_.placeholder);
      PrecompiledHeaders::tidy(*read, unit.input.path);
      files = merged(std::move(files), *read);
    }
    outcome_.dependencies = merged(std::move(outcome_.dependencies), files);
    if (request_.dependencies == DependencyRules::none || unit.input.language == Language::ptx) return Ok{};
    const bool by_rule_option = !unit.dependency_file.empty();
    return write_output(
        by_rule_option ? unit.dependency_file : unit.output,
        dependency_rule(request_.dependency_target.empty() ? escaped_for_make(unit.target) : unit.target, files,
                        request_.phony_targets));
  }

  std::string ptx_of(const Unit& unit) const {
    const std::string ptx = with_inlined_places(with_cluster_dimensions(content_of(unit.ptx)));
    return request_.relocatable ? with_static_variables_joined(ptx) : ptx;
  }

  std::string device_code(const Unit& unit) const {
    fatbin::PtxCode code;
    code.text = unit.input.language == Language::ptx ? content_of(unit.input.path) : ptx_of(unit);
    if (request_.phase == Phase::cubin)
      code.text =
          fmt::format("// PTX in place of machine code for {}: warpgrind runs PTX.\n", request_.architecture.sm()) +
          code.text;
    code.arch = static_cast<std::uint32_t>(request_.architecture.number);
    code.debug = request_.device_debug;
    code.line_info = request_.line_info;
    if (code.debug || code.line_info) code.source = unit.input.path;
    return fatbin::make_fatbin({code});
  }

  Status join(const Unit& unit) {
    if (request_.phase == Phase::fatbin || request_.phase == Phase::cubin)
      return write_output(unit.output, device_code(unit));
    if (request_.phase == Phase::ptx) return write_output(unit.output, ptx_of(unit));
    if (request_.phase < Phase::object || unit.device.empty()) return Ok{};
    const std::string fatbin = device_code(unit);
    if (request_.keep)
      if (Status s = keep(unit, fatbin); !s) return s;
    std::error_code problem;
    if (!fs::is_regular_file(unit.output, problem)) return Ok{};  // -o /dev/null
    std::string object = content_of(unit.output);
    if (request_.relocatable) fatbin::rename_module(object, unit.unique);
    // A source without kernels and device variables has no place for a fatbin, and needs none.
    const auto replaced = fatbin::replace_section(object, fatbin_section(request_), fatbin);
    if (!replaced) return replaced.error();
    return *replaced ? write_output(unit.output, object) : Ok{};
  }

  Status keep(const Unit& unit, const std::string& fatbin) const {
    const std::string stem = (fs::path(request_.keep_directory) / fs::path(unit.ptx).stem()).string();
    if (Status s = write_output(stem + ".ptx", ptx_of(unit)); !s) return s;
    return write_output(stem + ".fatbin", fatbin);
  }

  // ---- Linking
  Words with_objects(const Words& command, const std::vector<std::string>& more = {}) const {
    Words out;
    bool placed = false;
    for (const std::string& word : command) {
      if (!word.empty()) {
        out.push_back(word);
        continue;
      }
      placed = true;
      out.insert(out.end(), plan_.linked.begin(), plan_.linked.end());
      out.insert(out.end(), more.begin(), more.end());
    }
    if (!placed) out.insert(out.end(), plan_.linked.begin(), plan_.linked.end());
    return out;
  }

  bool link() {
    for (const Input& input : request_.inputs)
      if (input.language == Language::linkable) outcome_.dependencies.push_back(input.path);
    if (request_.phase == Phase::archive) {
      // As with nvcc, the content of an earlier archive of this name is lost.
      std::error_code problem;
      fs::remove(plan_.output, problem);
      return call(with_objects(plan_.archive));
    }
    if (request_.phase < Phase::device_link) return true;
    std::vector<std::string> extra;
    if ((request_.phase == Phase::device_link || request_.device_linked) && !device_link(extra)) return false;
    return request_.phase == Phase::device_link || call(with_objects(plan_.link, extra));
  }

  bool device_link(std::vector<std::string>& extra) {
    std::vector<std::string> files;
    for (const std::string& file : plan_.linked)
      if (!file.ends_with(".so") && file.find(".so.") == std::string::npos) files.push_back(file);
    const auto archives = static_libraries(request_.libraries, request_.library_paths);
    files.insert(files.end(), archives.begin(), archives.end());
    const auto link = plan_device_link(files);
    if (!link) return failed(link.error()), false;
    outcome_.dependencies = merged(std::move(outcome_.dependencies), archives);
    if (!link->needed() && request_.phase != Phase::device_link) return true;
    std::vector<std::string> fatbins;
    for (const std::string& fatbin : link->fatbins) {
      fatbins.push_back(fmt::format("{}.{}.fatbin", plan_.stub_source, fatbins.size()));
      if (Status s = write_output(fatbins.back(), fatbin); !s) return failed(s.error()), false;
    }
    if (Status s = write_output(plan_.stub_source, device_link_source(*link, fatbins)); !s)
      return failed(s.error()), false;
    extra.push_back(plan_.stub);
    return call(plan_.stub_command);
  }

  bool call(const Words& command) {
    if (request_.verbose) show(command);
    if (!plan_.output.empty()) unfinished_.push_back(plan_.output);
    const std::string messages = plan_.placeholder + ".txt";
    const auto child = children_.start(command, messages, plan_.variables);
    if (!child) return failed(child.error()), false;
    const Children::Ended ended = children_.wait();
    const std::string said = content_of(messages);
    pass_on(said);
    outcome_.signal = ended.signal;
    if (ended.exit_code != 0) outcome_.exit_code = 1;
    return ended.exit_code == 0 && ended.signal == 0;
  }

  void run_program() {
    Words command = {plan_.output.find('/') == std::string::npos ? "./" + plan_.output : plan_.output};
    command.insert(command.end(), request_.run_arguments.begin(), request_.run_arguments.end());
    const auto child = children_.start(command, "");
    if (!child) {
      failed(child.error());
      return;
    }
    const Children::Ended ended = children_.wait();
    outcome_.exit_code = ended.exit_code;
    outcome_.signal = ended.signal;
  }

  Outcome failed(const Error& error) {
    say(error);
    outcome_.exit_code = 1;
    return outcome_;
  }

  // Removes unfinished outputs: make would use half an object.
  void remove_unfinished() {
    for (const std::string& path : unfinished_) {
      std::error_code problem;
      if (fs::is_regular_file(path, problem)) fs::remove(path, problem);
    }
  }

  const Request& request_;
  const Toolkit& toolkit_;
  Plan plan_;
  Words compiler_variables_;
  PrecompiledHeaders headers_;
  unsigned at_once_ = 1;
  Children children_;
  std::vector<std::string> unfinished_;
  Outcome outcome_;
};

Outcome with_folder(const Request& request, const Toolkit& toolkit, const Surroundings& surroundings) {
  const TemporaryFolder folder;
  if (folder.path.empty()) {
    say({ErrorKind::environment, folder.problem, "set TMPDIR to a folder that can be written"});
    return {kNotPossible, 0, {}, ""};
  }
  return Driver(request, toolkit, surroundings, folder.path).run();
}

// Checks that our parts that these steps use are installed. A missing part is named before clang starts, because
// clang's messages would blame the source.
Status check_what_is_used(const Request& request, const Toolkit& toolkit) {
  if (request.dryrun) return Ok{};
  const bool compiles = std::any_of(request.inputs.begin(), request.inputs.end(),
                                    [](const Input& input) { return input.language != Language::linkable; });
  if (compiles)
    if (Status s = check_parts(toolkit.parts, {NeededBy::every_compilation}); !s) return s;
  if (request.phase != Phase::program) return Ok{};
  if (request.runtime)
    if (Status s = check_parts(toolkit.parts, {NeededBy::every_link}); !s) return s;
  return check_libraries(toolkit, request.libraries);
}

}  // namespace

Outcome nvcc(const std::vector<std::string>& words, const Surroundings& surroundings) {
  const auto refuse = [](const Error& error) {
    say(error);
    return Outcome{error.kind == ErrorKind::environment ? kNotPossible : 1, 0, {}, ""};
  };
  const auto line = parse_command_line(words);
  if (!line) return refuse(line.error());
  if (show_information(*line)) return {};
  const auto toolkit = find_toolkit(surroundings.path);
  if (!toolkit) return refuse(toolkit.error());
  const auto request = read_request(*line);
  if (!request) {
    // CMake asks for the toolkit's folder with -v and no input.
    if (line->has(OptionId::verbose))
      std::fputs(fmt::format("#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n", toolkit->folder).c_str(),
                 stderr);
    return refuse(request.error());
  }
  if (const Status whole = check_what_is_used(*request, *toolkit); !whole) return refuse(whole.error());
  const SignalMask held = SignalMask::block(held_signals());
  return with_folder(*request, *toolkit, surroundings);
}

}  // namespace warpgrind::toolchain
