// Values of special registers, loaded from the WarpContext.
#include "codegen/kernel/special_registers.h"

#include <llvm/IR/Constants.h>

#include "codegen/kernel/clock.h"

namespace warpgrind::jit {

using llvm::Value;

Value* SpecialRegisters::field(std::size_t offset, const char* name) {
  return f_.context_field(offset, ir_.getInt32Ty(), name);
}

// x, y or z of the triple at offset `base`. `first`: the register of its x.
Value* SpecialRegisters::dimension(std::size_t base, ptx::SpecialRegister s, ptx::SpecialRegister first) {
  return field(base + 4 * (static_cast<unsigned>(s) - static_cast<unsigned>(first)), "dim");
}

// Registers of clusters, and of the sizes and parts of shared memory.
Value* SpecialRegisters::cluster_register(ptx::SpecialRegister s) {
  using S = ptx::SpecialRegister;
  const auto reserved = [&](std::uint64_t offset) -> Value* {
    Value* at = ir_.getInt64(kReservedShared + offset);
    if (Value* start = f_.shared_start()) at = ir_.CreateAdd(start, at);
    return ir_.CreateTrunc(at, ir_.getInt32Ty());
  };
  switch (s) {
    case S::total_smem_size:
      return field(offsetof(WarpContext, total_shared), "total_shared");
    case S::aggr_smem_size:
      return field(offsetof(WarpContext, all_shared), "all_shared");
    case S::clusterid_x:
    case S::clusterid_y:
    case S::clusterid_z:
      return ir_.CreateUDiv(dimension(offsetof(WarpContext, ctaid), s, S::clusterid_x),
                            dimension(offsetof(WarpContext, cluster_dim), s, S::clusterid_x));
    case S::nclusterid_x:
    case S::nclusterid_y:
    case S::nclusterid_z:
      return ir_.CreateUDiv(dimension(offsetof(WarpContext, nctaid), s, S::nclusterid_x),
                            dimension(offsetof(WarpContext, cluster_dim), s, S::nclusterid_x));
    case S::cluster_ctaid_x:
    case S::cluster_ctaid_y:
    case S::cluster_ctaid_z:
      return ir_.CreateURem(dimension(offsetof(WarpContext, ctaid), s, S::cluster_ctaid_x),
                            dimension(offsetof(WarpContext, cluster_dim), s, S::cluster_ctaid_x));
    case S::cluster_ctarank:
      return field(offsetof(WarpContext, cluster_rank), "cluster_rank");
    case S::cluster_nctaid_x:
    case S::cluster_nctaid_y:
    case S::cluster_nctaid_z:
      return dimension(offsetof(WarpContext, cluster_dim), s, S::cluster_nctaid_x);
    case S::cluster_nctarank: {
      const auto side = [&](unsigned d) { return field(offsetof(WarpContext, cluster_dim) + 4 * d, "cluster"); };
      return ir_.CreateMul(ir_.CreateMul(side(0), side(1)), side(2));
    }
    case S::is_explicit_cluster:
      return ir_.CreateICmpNE(field(offsetof(WarpContext, explicit_cluster), "explicit"), ir_.getInt32(0));
    case S::reserved_smem_offset_begin:
    case S::reserved_smem_offset_0:
      return reserved(0);
    case S::reserved_smem_offset_1:
      return reserved(kReservedSharedBytes / 2);
    case S::reserved_smem_offset_end:
    case S::reserved_smem_offset_cap:
      return reserved(kReservedSharedBytes);
    default:
      f_.unsupported("this special register");
      return ir_.getInt32(0);
  }
}

Value* SpecialRegisters::read(ptx::SpecialRegister s, std::uint32_t number) {
  using S = ptx::SpecialRegister;
  Clock clock(f_);
  const auto lanes = [&](auto f) {
    llvm::SmallVector<llvm::Constant*, kWarpSize> c;
    for (unsigned l = 0; l < kWarpSize; ++l) c.push_back(ir_.getInt32(f(l)));
    return llvm::ConstantVector::get(c);
  };
  switch (s) {
    case S::tid_x:
    case S::tid_y:
    case S::tid_z: {
      const unsigned d = static_cast<unsigned>(s) - static_cast<unsigned>(S::tid_x);
      if (!f_.layout.general) return field(offsetof(WarpContext, tid_base) + 4 * d, "tid_base");
      return f_.context_field(offsetof(WarpContext, tid) + 128 * d,
                              llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize), "tid");
    }
    case S::ntid_x:
    case S::ntid_y:
    case S::ntid_z:
      return dimension(offsetof(WarpContext, ntid), s, S::ntid_x);
    case S::ctaid_x:
    case S::ctaid_y:
    case S::ctaid_z:
      return dimension(offsetof(WarpContext, ctaid), s, S::ctaid_x);
    case S::nctaid_x:
    case S::nctaid_y:
    case S::nctaid_z:
      return dimension(offsetof(WarpContext, nctaid), s, S::nctaid_x);
    case S::warpid:
      return field(offsetof(WarpContext, warp), "warp");
    case S::smid:
      return field(offsetof(WarpContext, smid), "smid");
    case S::lanemask_eq:
      return lanes([](unsigned l) { return 1u << l; });
    case S::lanemask_lt:
      return lanes([](unsigned l) { return (1u << l) - 1; });
    case S::lanemask_le:
      return lanes([](unsigned l) { return (2u << l) - 1; });
    case S::lanemask_gt:
      return lanes([](unsigned l) { return ~((2u << l) - 1); });
    case S::lanemask_ge:
      return lanes([](unsigned l) { return ~((1u << l) - 1); });
    case S::envreg:
      return number < 4 ? field(offsetof(WarpContext, env) + 4 * number, "env") : ir_.getInt32(0);
    case S::clock:
      return ir_.CreateTrunc(clock.cycles(), ir_.getInt32Ty());
    case S::clock64:
      return clock.cycles();
    case S::clock_hi:
      return ir_.CreateTrunc(ir_.CreateLShr(clock.cycles(), 32), ir_.getInt32Ty());
    case S::globaltimer:
      return clock.nanoseconds();
    case S::globaltimer_lo:
      return ir_.CreateTrunc(clock.nanoseconds(), ir_.getInt32Ty());
    case S::globaltimer_hi:
      return ir_.CreateTrunc(ir_.CreateLShr(clock.nanoseconds(), 32), ir_.getInt32Ty());
    case S::nwarpid:
      return ir_.getInt32(64);
    case S::nsmid:
      return ir_.getInt32(256);
    case S::gridid:
      return ir_.getInt64(1);
    case S::current_graph_exec:
      return f_.context_field(offsetof(WarpContext, graph), ir_.getInt64Ty(), "graph");
    case S::dynamic_smem_size: {
      Value* size = f_.context_field(offsetof(WarpContext, shared_size), ir_.getInt64Ty(), "shared_size");
      Value* start = f_.context_field(offsetof(WarpContext, dynamic_shared_offset), ir_.getInt64Ty(), "dynamic_shared");
      return ir_.CreateTrunc(ir_.CreateSub(size, start), ir_.getInt32Ty());
    }
    default:
      return cluster_register(s);
  }
}

}  // namespace warpgrind::jit
