// Layout of shared memory, local memory and call frames, over all functions that a kernel may call.
#include "jit/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "gpu/gpu_model.h"
#include "gpu/launch_limits.h"
#include "jit/abi.h"
#include "jit/parameters_on_stack.h"

namespace warpgrind::jit {

using ptx::OperandKind;

LaneShape lane_shape_of(const Dim3& block) {
  if (block.y == 1 && block.z == 1) return block.x <= kWarpSize / 2 ? LaneShape::half : LaneShape::linear;
  if (block.x % kWarpSize == 0) return LaneShape::linear;
  const std::uint64_t plane = std::uint64_t{block.x} * block.y;
  if (plane % kWarpSize == 0) {
    switch (block.x) {
      case 1:
        return LaneShape::rows1;
      case 2:
        return LaneShape::rows2;
      case 4:
        return LaneShape::rows4;
      case 8:
        return LaneShape::rows8;
      case 16:
        return LaneShape::rows16;
      default:
        break;
    }
  }
  return LaneShape::general;
}

std::vector<ParameterLayout> parameter_layout(const ptx::Function& entry) {
  std::vector<ParameterLayout> out;
  std::uint64_t offset = 0;
  WG_ASSERT(entry.parameter_count <= entry.variables.size());
  for (std::uint32_t p = 0; p < entry.parameter_count; ++p) {
    const ptx::Variable& v = entry.variables[p];
    const std::uint64_t align = std::max<std::uint64_t>(1, v.alignment);
    offset = (offset + align - 1) / align * align;
    out.push_back({offset, v.size});
    offset += v.size;
  }
  return out;
}

PlaneLayout plane_layout(const std::vector<ptx::Variable>& variables, std::size_t first, std::size_t count) {
  PlaneLayout out;
  WG_ASSERT(first + count <= variables.size());
  for (std::size_t i = first; i < first + count; ++i) {
    const std::uint64_t align = std::max<std::uint64_t>(1, variables[i].alignment / 4);
    out.words = (out.words + align - 1) / align * align;
    out.word.push_back(out.words);
    out.words += (variables[i].size + 3) / 4;
  }
  return out;
}

namespace {

void for_each_operand(const ptx::Operand& o, const std::function<void(const ptx::Operand&)>& f) {
  f(o);
  for (const ptx::Operand& e : o.elements) for_each_operand(e, f);
}

void for_each_operand(const ptx::Function& function, const std::function<void(const ptx::Operand&)>& f) {
  for (const ptx::Instruction& i : function.body) {
    for (const auto& o : i.operands) for_each_operand(o, f);
    for (const auto& o : i.arguments) for_each_operand(o, f);
  }
}

// Upper limit of sums: more than any launch can have, and far from overflow.
constexpr std::uint64_t kUnreasonable = std::uint64_t{1} << 60;

// Largest shared memory of a block on any GPU.
std::uint64_t largest_shared() {
  std::uint64_t most = 0;
  for (const GpuModel& m : gpu_models()) most = std::max({most, m.shared_per_block, m.shared_per_block_optin});
  return most;
}

class Layouter {
 public:
  Layouter(const ptx::Module& module, std::uint32_t entry) : module_(module), entry_(entry) {}

  KernelLayout run() {
    WG_ASSERT(entry_ < module_.functions.size());
    collect_functions();
    place_shared();
    for (std::uint32_t f : out_.functions) place_local(f);
    find_recursive();
    std::set<std::uint32_t> open;
    out_.local_bytes = deepest(entry_, open);
    if (const auto parameters = parameter_layout(module_.functions[entry_]); !parameters.empty())
      out_.parameter_bytes = parameters.back().offset + parameters.back().size;
    return std::move(out_);
  }

 private:
  void add_function(std::uint32_t f) {
    if (module_.functions[f].is_entry && f != entry_) return;  // address of a kernel, for a launch from the device
    if (!out_.functions.insert(f).second) return;
    const ptx::Function& function = module_.functions[f];
    for (const ptx::Instruction& i : function.body) {
      if (i.opcode == ptx::Opcode::call && i.operands[0].kind != OperandKind::function) {
        indirect_ = true;
        calls_indirectly_.insert(f);
      }
      if (i.opcode == ptx::Opcode::alloca) out_.open_ended = true;
    }
    for_each_operand(function, [&](const ptx::Operand& o) {
      if (o.kind == OperandKind::function) {
        callees_[f].insert(o.index);
        add_function(o.index);
      }
    });
  }

  // With indirect calls, every function whose address is taken anywhere in the module may be called.
  void collect_functions() {
    add_function(entry_);
    if (!indirect_) return;
    for (const ptx::Variable& v : module_.variables)
      for (const ptx::Relocation& r : v.relocations)
        if (r.is_function) indirect_targets_.insert(r.target);
    for (std::uint32_t f = 0; f < module_.functions.size(); ++f)
      for (const ptx::Instruction& i : module_.functions[f].body)
        for (const auto& o : i.operands)
          if (o.kind == OperandKind::function && i.opcode != ptx::Opcode::call) indirect_targets_.insert(o.index);
    for (std::uint32_t f : indirect_targets_) add_function(f);
  }

  std::uint64_t place(std::uint64_t& top, const ptx::Variable& v) {
    const std::uint64_t align = std::max<std::uint64_t>(1, v.alignment);
    top = (top + align - 1) / align * align;
    const std::uint64_t offset = top;
    WG_ASSERT(top <= kUnreasonable + align);
    top = std::min(kUnreasonable, top + std::min(kUnreasonable, v.size));
    return offset;
  }

  void place_shared() {
    std::set<std::uint32_t> used;
    std::uint64_t dynamic_align = 16;
    for (std::uint32_t f : out_.functions)
      for_each_operand(module_.functions[f], [&](const ptx::Operand& o) {
        const bool variable =
            o.kind == OperandKind::variable || (o.kind == OperandKind::address && o.base == OperandKind::variable);
        if (variable && o.scope == ptx::Scope::module && module_.variables[o.index].space == StateSpace::shared)
          used.insert(o.index);
      });
    std::uint64_t top = 0;
    for (std::uint32_t v : used)
      if (!module_.variables[v].unsized) out_.shared_module[v] = place(top, module_.variables[v]);
    for (std::uint32_t f : out_.functions) {
      const auto& variables = module_.functions[f].variables;
      for (std::uint32_t v = 0; v < variables.size(); ++v)
        if (variables[v].space == StateSpace::shared && !variables[v].unsized)
          out_.shared_function[{f, v}] = place(top, variables[v]);
    }
    for (std::uint32_t v : used)
      if (module_.variables[v].unsized)
        dynamic_align = std::max<std::uint64_t>(dynamic_align, module_.variables[v].alignment);
    out_.static_shared = top;
    out_.dynamic_offset = (top + dynamic_align - 1) / dynamic_align * dynamic_align;
    bool dynamic = false;
    for (std::uint32_t v : used)
      if (module_.variables[v].unsized) {
        out_.shared_module[v] = out_.dynamic_offset;
        dynamic = true;
      }
    for (std::uint32_t f : out_.functions) {
      const auto& variables = module_.functions[f].variables;
      for (std::uint32_t v = 0; v < variables.size(); ++v)
        if (variables[v].space == StateSpace::shared && variables[v].unsized) {
          out_.shared_function[{f, v}] = out_.dynamic_offset;
          dynamic = true;
        }
    }
    // Static memory extends to the start of the extern array, as in an H200's launch__shared_mem_per_block_static.
    if (dynamic) out_.static_shared = out_.dynamic_offset;
  }

  void place_local(std::uint32_t f) {
    std::uint64_t top = 0;
    const auto& variables = module_.functions[f].variables;
    for (std::uint32_t v = 0; v < variables.size(); ++v)
      if (variables[v].space == StateSpace::local) out_.local[{f, v}] = place(top, variables[v]);
    for (const StackParameter& p : stack_parameters(module_.functions[f])) {
      ptx::Variable whole_words = variables[p.variable];
      whole_words.alignment = std::max(4u, whole_words.alignment);
      whole_words.size = (whole_words.size + 3) / 4 * 4;
      out_.local[{f, p.variable}] = place(top, whole_words);
    }
    out_.frame[f] = (top + 15) / 16 * 16;
  }

  // Functions that may call themselves, directly or through others: the cycles of the call graph (Tarjan's algorithm).
  class Cycles {
   public:
    // Calls visit(callee) for each function that the first argument may call.
    using EachCallee = std::function<void(std::uint32_t, const std::function<void(std::uint32_t)>&)>;
    explicit Cycles(EachCallee each_callee) : each_callee_(std::move(each_callee)) {}
    std::set<std::uint32_t> from(std::uint32_t entry) {
      visit(entry);
      return std::move(found_);
    }

   private:
    void visit(std::uint32_t f) {
      constexpr std::uint32_t kClosed = ~0u;
      const auto number = static_cast<std::uint32_t>(oldest_.size());
      std::uint32_t oldest = oldest_[f] = number;
      open_.push_back(f);
      bool calls_itself = false;
      each_callee_(f, [&](std::uint32_t callee) {
        calls_itself |= callee == f;
        if (!oldest_.contains(callee)) visit(callee);
        if (oldest_[callee] != kClosed) oldest = std::min(oldest, oldest_[callee]);
      });
      oldest_[f] = oldest;
      if (oldest != number) return;
      const bool cycle = calls_itself || open_.back() != f;
      for (std::uint32_t member = ~f; member != f;) {
        WG_ASSERT(!open_.empty());
        member = open_.back();
        open_.pop_back();
        oldest_[member] = kClosed;
        if (cycle) found_.insert(member);
      }
    }
    const EachCallee each_callee_;
    std::map<std::uint32_t, std::uint32_t> oldest_;  // by function: number of the oldest open function that it reaches
    std::vector<std::uint32_t> open_;
    std::set<std::uint32_t> found_;
  };

  template <class Visit>
  void each_callee(std::uint32_t f, const Visit& visit) {
    for (std::uint32_t callee : callees_[f]) visit(callee);
    if (calls_indirectly_.contains(f))
      for (std::uint32_t callee : indirect_targets_) visit(callee);
  }

  void find_recursive() {
    recursive_ = Cycles([this](std::uint32_t f, const auto& visit) {
                   for (std::uint32_t callee : callees_[f]) visit(callee);
                 }).from(entry_);
    std::set<std::uint32_t> all = recursive_;
    if (indirect_) all = Cycles([this](std::uint32_t f, const auto& visit) { each_callee(f, visit); }).from(entry_);
    out_.open_ended |= !all.empty();
    for (std::uint32_t f : all) {
      out_.frame[f] += kRecursiveCallBytes;
      if (out_.least_recursive_frame == 0 || out_.frame[f] < out_.least_recursive_frame)
        out_.least_recursive_frame = out_.frame[f];
    }
  }

  // Bytes of f's frame and of the deepest call chain below it. Recursive functions and their callees do not count, as
  // in the value that ptxas stores for the driver (cudaFuncAttributes::localSizeBytes): an H100 gives them
  // cudaLimitStackSize bytes and no more. A cycle through a function pointer may not be a real one, so each of its
  // functions counts once.
  std::uint64_t deepest(std::uint32_t f, std::set<std::uint32_t>& open) {
    if (recursive_.contains(f)) return 0;
    if (const auto known = depth_.find(f); known != depth_.end()) return known->second;
    if (!open.insert(f).second) return 0;
    std::uint64_t below = 0;
    each_callee(f, [&](std::uint32_t callee) { below = std::max(below, deepest(callee, open)); });
    open.erase(f);
    return depth_[f] = std::min(kUnreasonable, out_.frame[f] + below);
  }

  const ptx::Module& module_;
  const std::uint32_t entry_;
  KernelLayout out_;
  bool indirect_ = false;
  std::set<std::uint32_t> indirect_targets_, calls_indirectly_;
  std::set<std::uint32_t> recursive_;  // without calls through function pointers
  std::map<std::uint32_t, std::uint64_t> depth_;
  std::map<std::uint32_t, std::set<std::uint32_t>> callees_;
};

}  // namespace

KernelLayout lay_out(const ptx::Module& module, std::uint32_t entry) {
  return Layouter(module, entry).run();
}

Status check_layout(const ptx::Module& module, std::uint32_t entry, const KernelLayout& layout) {
  for (const std::uint32_t f : layout.functions) {
    const ptx::Function& function = module.functions[f];
    if (function.unknown.empty()) continue;
    const ptx::UnknownInstruction& first = function.unknown.front();
    return Error{ErrorKind::unsupported,
                 fmt::format("{} (PTX line {}, function {})", first.why, first.range.line, function.name),
                 "it is misspelt, or newer than the virtual GPU; `warpgrind scan` lists all such instructions"};
  }
  std::uint64_t parameters = 0;
  for (std::uint32_t p = 0; p < module.functions[entry].parameter_count; ++p)
    parameters += std::min(module.functions[entry].variables[p].size, kLargestParameters + 1);
  if (parameters > kLargestParameters)
    return Error{ErrorKind::bad_input,
                 fmt::format("the kernel {} has {} bytes of parameters; the limit is {}", module.functions[entry].name,
                             parameters, kLargestParameters),
                 ""};
  if (layout.local_bytes > kMostLocalBytes)
    return Error{ErrorKind::bad_input,
                 fmt::format("the kernel {} needs {} bytes of local memory per thread; a GPU has at most {}",
                             module.functions[entry].name, layout.local_bytes, kMostLocalBytes),
                 ""};
  constexpr std::uint64_t kEveryGpu = 16384;  // since compute capability 1.0; reading all models takes 5 ms
  if (layout.static_shared > kEveryGpu && layout.static_shared > largest_shared())
    return Error{ErrorKind::bad_input,
                 fmt::format("the kernel {} needs {} bytes of shared memory per block; a GPU has at most {}",
                             module.functions[entry].name, layout.static_shared, largest_shared()),
                 ""};
  return Ok{};
}

}  // namespace warpgrind::jit
