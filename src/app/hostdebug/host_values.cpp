// Frames, variables and memory of stopped host threads.
#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "base/json.h"
#include "base/words.h"
#include "dap/base64.h"
#include "hostdebug/host_side.h"

namespace warpgrind::hostdebug {

namespace {

constexpr std::size_t kMostVariables = 500;

Error wrong(const std::string& message) {
  return {ErrorKind::bad_input, message, ""};
}

std::optional<std::uint64_t> read_address(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out, hexadecimal ? 16 : 10);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

// "type = int" of whatis and ptype.
std::string type_in(const std::string& text) {
  const std::string_view begin = "type = ";
  return trimmed(text.starts_with(begin) ? text.substr(begin.size()) : text);
}

}  // namespace

std::string HostSide::FrameId::context() const {
  return fmt::format("--thread {} --frame {}", thread, level);
}

Result<HostSide::FrameId> HostSide::frame_of(const Json& arguments) {
  const auto id = json::get<std::int64_t>(arguments, "frameId");
  if (id == 0) {
    const auto thread = thread_of(arguments);
    if (!thread) return thread.error();
    return FrameId{*thread, 0};
  }
  const std::int64_t index = id - kFirstHostId;
  if (index < 0 || index >= static_cast<std::int64_t>(frames_.size()))
    return wrong(fmt::format("no stopped frame has the id {}", id));
  return frames_[static_cast<std::size_t>(index)];
}

Result<Json> HostSide::stack_trace(const Json& arguments) {
  const auto thread = thread_of(arguments);
  if (!thread) return thread.error();
  const auto first = std::max<std::int64_t>(json::get<std::int64_t>(arguments, "startFrame"), 0);
  std::int64_t levels = json::get<std::int64_t>(arguments, "levels");
  constexpr std::int64_t kMostFrames = 1000;
  if (levels <= 0 || levels > kMostFrames) levels = kMostFrames;
  const auto body = gdb_.call(fmt::format("-stack-list-frames --thread {} {} {}", *thread, first, first + levels - 1));
  if (!body) return body.error();
  Json out = Json::array();
  json::each(*body, "stack", [&](const Json& frame) {
    const auto level = static_cast<int>(number_of(frame, "level"));
    std::string name = json::text(frame, "func");
    if (name.empty() || name == "??") name = json::text(frame, "addr");
    Json one = {
        {"id", kFirstHostId + static_cast<std::int64_t>(frames_.size())}, {"name", name}, {"line", 0}, {"column", 0}};
    frames_.push_back({*thread, level});
    std::string path = json::text(frame, "fullname");
    if (path.empty()) path = json::text(frame, "file");
    if (!path.empty()) {
      one["line"] = number_of(frame, "line");
      one["source"] = {{"name", base_name(path)}, {"path", path}};
    }
    one["instructionPointerReference"] = json::text(frame, "addr");
    out.push_back(std::move(one));
  });
  return Json{{"stackFrames", std::move(out)}};
}

Result<Json> HostSide::scopes(const Json& arguments) {
  const auto frame = frame_of(arguments);
  if (!frame) return frame.error();
  Json out = Json::array();
  const auto add = [&](const char* name, const char* hint, Listed::Of of) {
    lists_.push_back({*frame, of, ""});
    out.push_back({{"name", name},
                   {"presentationHint", hint},
                   {"variablesReference", kFirstHostId + static_cast<std::int64_t>(lists_.size())},
                   {"expensive", of == Listed::Of::registers}});
  };
  add("Locals", "locals", Listed::Of::locals);
  add("Arguments", "arguments", Listed::Of::arguments);
  add("Registers", "registers", Listed::Of::registers);
  return Json{{"scopes", std::move(out)}};
}

// What gdb prints for the value, in one line.
Result<std::string> HostSide::value_text(const FrameId& frame, const std::string& expression, const Json& arguments) {
  std::string format;
  if (const auto given = arguments.find("format"); given != arguments.end() && given->is_object()) {
    if (json::get<bool>(*given, "hex")) format = "/x";
    if (const std::string letter = json::text(*given, "letter");
        letter.size() == 1 && std::isalpha(static_cast<unsigned char>(letter[0])))
      format = "/" + letter;
  }
  auto text = gdb_.console(fmt::format("output{} {}", format, expression), frame.context());
  if (!text) return text.error();
  return trimmed(text.take());
}

Json HostSide::variable(const FrameId& frame, const std::string& name, const std::string& expression) {
  const std::string context = frame.context();
  const auto value = value_text(frame, expression, Json::object());
  const auto type = gdb_.console("whatis " + expression, context);
  const auto whole = gdb_.console("ptype/o " + expression, context);
  const std::string shape = whole ? type_in(*whole) : "";
  const bool has_members = shape.starts_with("struct ") || shape.starts_with("class ") || shape.starts_with("union ") ||
                           shape.starts_with("/*") || shape.ends_with(']') || shape.ends_with('*');
  Json out = {{"name", name},
              {"value", value ? *value : "<" + value.error().message + ">"},
              {"type", type ? type_in(*type) : ""},
              {"evaluateName", expression},
              {"variablesReference", 0}};
  if (has_members && shape != "void *") {
    lists_.push_back({frame, Listed::Of::children, expression});
    out["variablesReference"] = kFirstHostId + static_cast<std::int64_t>(lists_.size());
  }
  if (shape.ends_with('*') || shape.ends_with(']')) {
    const auto address = gdb_.console(
        fmt::format("output/x (unsigned long)({}{})", shape.ends_with(']') ? "&" : "", expression), context);
    if (address && address->starts_with("0x")) out["memoryReference"] = trimmed(*address);
  }
  return out;
}

// Members of a structure, elements of an array, or what a pointer points to. gdb lists the members of a C++ class below
// "public", "protected" and "private".
Result<Json> HostSide::list_children(const FrameId& frame, const std::string& expression) {
  const auto made = gdb_.call(fmt::format("-var-create {} - * {}", frame.context(), mi_quoted(expression)));
  if (!made) return made.error();
  const std::string root = json::text(*made, "name");
  std::vector<std::string> wanted = {root};
  Json out = Json::array();
  for (std::size_t i = 0; i < wanted.size() && out.size() < kMostVariables; ++i) {
    const auto body = gdb_.call(fmt::format("-var-list-children {} 0 {}", wanted[i], kMostVariables));
    if (!body) break;
    json::each(*body, "children", [&](const Json& child) {
      const std::string name = json::text(child, "name"), shown = json::text(child, "exp");
      if (shown == "public" || shown == "protected" || shown == "private") {
        wanted.push_back(name);
        return;
      }
      const auto path = gdb_.call("-var-info-path-expression " + name);
      if (!path || out.size() >= kMostVariables) return;
      out.push_back(variable(frame, shown, json::text(*path, "path_expr")));
    });
  }
  (void)gdb_.call("-var-delete " + root);
  return Json{{"variables", std::move(out)}};
}

Result<Json> HostSide::variables(const Json& arguments) {
  const std::int64_t index = json::get<std::int64_t>(arguments, "variablesReference") - kFirstHostId - 1;
  if (index < 0 || index >= static_cast<std::int64_t>(lists_.size()))
    return wrong("these variables belong to a stop that is over");
  const Listed listed = lists_[static_cast<std::size_t>(index)];
  if (listed.of == Listed::Of::children) return list_children(listed.frame, listed.expression);
  const std::string context = listed.frame.context();
  Json out = Json::array();
  if (listed.of == Listed::Of::registers) {
    for (const char* name : {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
                             "r13", "r14", "r15", "rip", "eflags"}) {
      const auto value = gdb_.console(fmt::format("output/x ${}", name), context);
      if (value) out.push_back({{"name", name}, {"value", trimmed(*value)}, {"variablesReference", 0}});
    }
    return Json{{"variables", std::move(out)}};
  }
  const auto body = gdb_.call(fmt::format("-stack-list-variables {} --no-values", context));
  if (!body) return body.error();
  const bool arguments_wanted = listed.of == Listed::Of::arguments;
  json::each(*body, "variables", [&](const Json& one) {
    if ((json::text(one, "arg") == "1") != arguments_wanted || out.size() >= kMostVariables) return;
    const std::string name = json::text(one, "name");
    out.push_back(variable(listed.frame, name, name));
  });
  return Json{{"variables", std::move(out)}};
}

// The value is computed once, because an expression may change something.
Result<Json> HostSide::evaluate(const Json& arguments) {
  const auto frame = frame_of(arguments);
  if (!frame) return frame.error();
  const std::string expression = json::text(arguments, "expression");
  const auto value = value_text(*frame, expression, arguments);
  if (!value) return value.error();
  const std::string context = frame->context();
  const auto type = gdb_.console("whatis " + expression, context);
  Json out = {{"result", *value}, {"type", type ? type_in(*type) : ""}, {"variablesReference", 0}};
  const bool changes = expression.find('=') != std::string::npos || expression.find("++") != std::string::npos ||
                       expression.find("--") != std::string::npos || expression.find('(') != std::string::npos;
  if (changes) return out;
  const Json whole = variable(*frame, expression, expression);
  for (const char* member : {"variablesReference", "memoryReference"})
    if (whole.contains(member)) out[member] = whole[member];
  return out;
}

Result<Json> HostSide::set_expression(const Json& arguments) {
  const auto frame = frame_of(arguments);
  if (!frame) return frame.error();
  const std::string target = json::text(arguments, "expression");
  const auto value =
      value_text(*frame, fmt::format("({}) = ({})", target, json::text(arguments, "value")), Json::object());
  if (!value) return value.error();
  return Json{{"value", *value}};
}

Result<Json> HostSide::set_variable(const Json& arguments) {
  const std::int64_t index = json::get<std::int64_t>(arguments, "variablesReference") - kFirstHostId - 1;
  if (index < 0 || index >= static_cast<std::int64_t>(lists_.size()))
    return wrong("these variables belong to a stop that is over");
  const Listed listed = lists_[static_cast<std::size_t>(index)];
  const std::string name = json::text(arguments, "name");
  std::string target = listed.of == Listed::Of::registers ? "$" + name : name;
  if (listed.of == Listed::Of::children) {
    target.clear();
    const auto body = list_children(listed.frame, listed.expression);
    if (!body) return body.error();
    json::each(*body, "variables", [&](const Json& one) {
      if (json::text(one, "name") == name) target = json::text(one, "evaluateName");
    });
    if (target.empty()) return wrong(fmt::format("there is no member {}", name));
  }
  const auto value =
      value_text(listed.frame, fmt::format("({}) = ({})", target, json::text(arguments, "value")), Json::object());
  if (!value) return value.error();
  return Json{{"value", *value}};
}

Result<Json> HostSide::read_memory(const Json& arguments) {
  const auto begin = read_address(json::text(arguments, "memoryReference"));
  if (!begin) return wrong("memoryReference must be an address");
  const std::uint64_t address = *begin + static_cast<std::uint64_t>(json::get<std::int64_t>(arguments, "offset"));
  constexpr std::uint64_t kMost = 1 << 20;
  const std::uint64_t count = std::min(json::get<std::uint64_t>(arguments, "count"), kMost);
  std::vector<std::uint8_t> bytes;
  if (count != 0) {
    const auto body = gdb_.call(fmt::format("-data-read-memory-bytes {:#x} {}", address, count));
    if (!body) return body.error();
    std::string digits;
    json::each(*body, "memory", [&](const Json& part) {
      if (digits.empty() && read_address(json::text(part, "begin")) == address) digits = json::text(part, "contents");
    });
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      std::uint8_t byte = 0;
      std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
      bytes.push_back(byte);
    }
  }
  return Json{{"address", fmt::format("{:#x}", address)},
              {"data", dap::encode_base64(bytes)},
              {"unreadableBytes", count - bytes.size()}};
}

// Instructions from the address on; x86 has no way to find those before it.
Result<Json> HostSide::disassemble(const Json& arguments) {
  const auto address = read_address(json::text(arguments, "memoryReference"));
  if (!address) return wrong("memoryReference must be an address");
  constexpr std::int64_t kMost = 1000;
  std::int64_t count = std::min(json::get<std::int64_t>(arguments, "instructionCount"), kMost);
  const auto offset = json::get<std::int64_t>(arguments, "instructionOffset");
  if (offset < 0) count += offset;
  Json out = Json::array();
  const auto text = gdb_.console(fmt::format("x/{}i {:#x}", std::max(count, std::int64_t{1}), *address));
  if (!text) return text.error();
  std::size_t begin = 0;
  for (std::size_t end; (end = text->find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = text->substr(begin, end - begin);
    const std::size_t digits = line.find("0x"), tab = line.find(":\t");
    if (digits == std::string::npos || tab == std::string::npos) continue;
    out.push_back({{"address", line.substr(digits, line.find_first_of(" :", digits) - digits)},
                   {"instruction", line.substr(tab + 2)}});
  }
  return Json{{"instructions", std::move(out)}};
}

Result<Json> HostSide::exception_info(const Json& arguments) {
  const auto thread = thread_of(arguments);
  if (!thread) return thread.error();
  const Json& stop = threads_[*thread].stop;
  const std::string signal = json::text(stop, "signal-name");
  if (signal.empty() || signal == "0") return wrong("the thread was not stopped by a signal");
  std::string what = json::text(stop, "signal-meaning");
  const auto address =
      gdb_.console("output $_siginfo._sifields._sigfault.si_addr", fmt::format("--thread {} --frame 0", *thread));
  if (address && (signal == "SIGSEGV" || signal == "SIGBUS")) {
    const std::size_t digits = address->find("0x");
    if (digits != std::string::npos) what += " at address " + trimmed(address->substr(digits));
  }
  return Json{{"exceptionId", signal}, {"description", what}, {"breakMode", "unhandled"}};
}

// The text with each {expression} replaced by its value.
std::string HostSide::expand(const std::string& message, const FrameId& frame) {
  std::string out;
  for (std::size_t i = 0; i < message.size();) {
    const std::size_t end = message[i] == '{' ? message.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      out += message[i++];
      continue;
    }
    const auto value = value_text(frame, message.substr(i + 1, end - i - 1), Json::object());
    out += value ? *value : "<" + value.error().message + ">";
    i = end + 1;
  }
  return out;
}

}  // namespace warpgrind::hostdebug
