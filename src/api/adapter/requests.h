// One connection: requests in, responses and events out.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "adapter/sources.h"
#include "dap/channel.h"
#include "debugger/debugger.h"
#include "debugger/expression.h"
#include "debugger/format.h"
#include "debugger/kept_values.h"

namespace warpgrind::adapter {

using dap::Json;

// Shared by the files of requests.
std::string place_in_ptx(debuginfo::CodePlace code);  // "f0:i12"
// The same as a number, as DAP wants an address: "0x10000000c" is f0:i12. `instruction` may lie outside of the
// function.
std::string ptx_address(std::uint32_t function, std::int64_t instruction);
struct PtxPlace {
  std::uint32_t function = 0;
  std::int64_t instruction = 0;
};
std::optional<PtxPlace> read_ptx_place(const std::string& text);  // of either form

class Requests final : public debugger::DebugListener {
 public:
  explicit Requests(Descriptor socket);
  device::StopHandler& handler() { return debugger_; }
  // As Debugger::explain_with().
  void explain_with(std::function<std::string(std::uint64_t address)> origin);
  void serve();    // until the front closes the connection
  void abandon();  // closes this process's end of the connection, and does nothing else

  void on_stop(const debugger::Stop& stop) override;
  void on_output(const std::string& text) override;
  void on_resolved(unsigned breakpoint, const debuginfo::SourcePlace& at) override;
  void on_removed(unsigned breakpoint, const std::string& why) override;

 private:
  using Body = Result<Json>;
  using Handler = Body (Requests::*)(const Json& arguments);
  struct Command {
    const char* name;
    Handler handler;
    enum class Needs : std::uint8_t { nothing, stop, kernel } needs = Needs::nothing;  // kernel: not in host code
  };
  static std::span<const Command> commands();
  void handle(const Json& request);
  void send(Json message);
  void event(const char* name, Json body);

  Body initialize(const Json& arguments);
  Body attach(const Json& arguments);
  Body set_breakpoints(const Json& arguments);
  Body set_function_breakpoints(const Json& arguments);
  Body set_exception_breakpoints(const Json& arguments);
  Body set_instruction_breakpoints(const Json& arguments);
  Body configuration_done(const Json& arguments);
  Body threads(const Json& arguments);
  Body stack_trace(const Json& arguments);
  Body scopes(const Json& arguments);
  Body variables(const Json& arguments);
  Body evaluate(const Json& arguments);
  Body type_definition(const Json& arguments);
  Body completions(const Json& arguments);
  Body go_on(const Json& arguments);
  Body next(const Json& arguments);
  Body step_in(const Json& arguments);
  Body step_out(const Json& arguments);
  Body step_back(const Json& arguments);
  Body reverse_step_in(const Json& arguments);
  Body reverse_step_out(const Json& arguments);
  Body reverse_go_on(const Json& arguments);
  Body pause(const Json& arguments);
  Body stop_at_launch(const Json& arguments);
  Body disconnect(const Json& arguments);
  Body exception_info(const Json& arguments);
  Body disassemble(const Json& arguments);
  Body functions(const Json& arguments);
  Body code_of_line(const Json& arguments);
  Body focus(const Json& arguments);
  Body warps(const Json& arguments);
  Body set_variable(const Json& arguments);
  Body set_expression(const Json& arguments);
  Body warp_values(const Json& arguments);
  Body tile(const Json& arguments);
  Body data_breakpoint_info(const Json& arguments);
  Body set_data_breakpoints(const Json& arguments);
  Body last_write(const Json& arguments);
  Body launches(const Json& arguments);
  Body read_memory(const Json& arguments);
  Body source(const Json& arguments);
  Body loaded_sources(const Json& arguments);

  // ---- While a warp is stopped
  struct Frame {
    device::WarpFiber* warp = nullptr;
    unsigned lane = 0;
    std::uint32_t index = 0;
  };
  struct Listed {  // what a variablesReference stands for
    Frame frame;
    enum class Of : std::uint8_t { arguments, locals, globals, builtins, registers, children } of = Of::locals;
    debugger::Value value;  // children
    std::string path;
  };
  struct Inspected;
  struct Types {
    explicit Types(const debuginfo::DebugInfo& info) : symbols(info), table(symbols) {}
    debugger::ModuleSymbols symbols;
    debugger::TypeTable table;
  };
  // A value that can be watched: in memory, or in a register.
  struct WatchedValue {
    device::Watchpoint memory;
    std::optional<debugger::WatchedCall> in_call;  // whose local memory it is
    std::optional<debugger::WatchedRegister> in_register;
    debuginfo::TypeId type = debuginfo::kVoidType;
  };
  struct DataId {
    WatchedValue value;
    std::string text;
    debuginfo::DebugInfo* info = nullptr;
  };
  debugger::TypeTable& types_of(debuginfo::DebugInfo& info);
  Result<Inspected> inspect(const Frame& frame);
  std::int64_t list_children(const Frame& frame, debugger::LaneContext context, const debugger::Value& value,
                             const std::string& path);
  Json show(const Frame& frame, debugger::LaneContext context, const std::string& name, const debugger::Value& value,
            const std::string& path, debugger::Format format);
  // " (n=1024, out=0x7f...)", as DAP's StackFrameFormat asks for it; empty: not wanted, or not known.
  std::string parameter_text(const Frame& frame, const Json& format);
  Result<debugger::Value> evaluate_text(debugger::LaneContext context, const std::string& text,
                                        debugger::SideEffects effects);
  Body set_by(const Frame& frame, const std::string& path, const std::string& value, debugger::Format format);
  Result<device::Watchpoint> memory_of(const Frame& frame, const debugger::Value& value, std::uint64_t bytes);
  Result<debugger::WatchedRegister> register_of(const Frame& frame, const debugger::Value& value);
  Result<WatchedValue> watched_value(const Frame& frame, const std::string& text);
  debugger::Debugger::Show shower(debuginfo::DebugInfo* info, debuginfo::TypeId type);
  Result<bool> holds(debugger::LaneView& lane, const std::string& condition);
  std::string expand(debugger::LaneView& lane, const std::string& message);
  std::int64_t thread_id(const device::WarpFiber& warp) const;
  Result<device::WarpFiber*> warp_of(const Json& arguments);
  Result<Frame> frame_of(const Json& arguments);
  unsigned lane_for(const device::WarpFiber& warp);
  Json describe_focus();
  Json host_frames();
  Body step(debugger::Step kind, const Json& arguments, bool back);
  Body replace(std::set<unsigned>& old, const std::vector<debugger::Breakpoint>& wanted);
  void forget();  // what stops gave out

  dap::Channel channel_;
  std::mutex sending_;
  std::int64_t sequence_ = 0;
  debugger::Debugger debugger_{*this};
  Sources sources_;
  std::map<std::string, std::set<unsigned>> of_source_;
  std::set<unsigned> of_functions_, of_filters_, of_instructions_;
  unsigned entry_ = 0;  // the breakpoint of stopOnEntry
  device::WarpFiber* focus_warp_ = nullptr;
  unsigned focus_lane_ = 0;
  struct FocusPlace {
    std::uint64_t block = 0;  // linear
    unsigned warp = 0, lane = 0;
  };
  std::optional<FocusPlace> focus_before_;  // of a search for a write, which stays there if it finds none
  std::vector<Frame> frames_;
  std::vector<Listed> lists_;
  std::vector<DataId> data_ids_;
  debugger::KeptValues kept_;
  std::set<unsigned> of_data_;
  std::map<device::WarpFiber*, std::unique_ptr<debugger::StoppedWarp>> looks_;  // of this stop
  std::map<debuginfo::DebugInfo*, std::unique_ptr<Types>> types_;
  struct Condition {
    debugger::Expression expression;
    bool was_undefined = false;  // the user knows it
  };
  std::map<std::pair<debuginfo::DebugInfo*, std::string>, Condition> conditions_;
};

}  // namespace warpgrind::adapter
