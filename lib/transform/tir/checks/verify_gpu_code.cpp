// tir.VerifyGPUCode: refuses kernels that a GPU cannot launch.
//
//   with T.launch_thread("threadIdx.x", 2048) as i:        # error with max_threads_per_block=1024
//       A[i] = T.float32(0)
//
// The option `constraints` has the limits: of the threads of a block in all and by axis, of virtual threads, of the
// bytes of shared memory, local memory and vectors, and of the number of kernels of a function. Axes of one name must
// have one extent in a kernel. What has no constant size does not count. Nothing changes. O(nodes).
//
// Source: TVM 0.18's pass of this name. It goes by the names of variables, this one by the tags of axes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/VerifyGPUCode.h"

namespace iropt {

namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

struct GpuLimits {
  int64_t local_memory = kNoLimit;
  int64_t shared_memory = kNoLimit;
  int64_t threads = kNoLimit;
  std::array<int64_t, 3> thread_axes = {kNoLimit, kNoLimit, kNoLimit};
  int64_t vthread = kNoLimit;
  int64_t vector_bytes = kNoLimit;
  int64_t kernels = kNoLimit;

  // Null if no constraint has this name.
  int64_t* Find(std::string_view name) {
    if (name == "max_local_memory_per_block") return &local_memory;
    if (name == "max_shared_memory_per_block") return &shared_memory;
    if (name == "max_threads_per_block") return &threads;
    if (name == "max_thread_x") return &thread_axes[0];
    if (name == "max_thread_y") return &thread_axes[1];
    if (name == "max_thread_z") return &thread_axes[2];
    if (name == "max_vthread") return &vthread;
    if (name == "max_vector_bytes") return &vector_bytes;
    if (name == "max_kernels") return &kernels;
    return nullptr;
  }
};

int64_t SaturatedProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kNoLimit : product;
}

class GpuCodeVerifier : public tir::StmtExprVisitor {
 public:
  GpuCodeVerifier(const PrimFunc& func, const GpuLimits& limits, DiagnosticEngine& diagnostics)
      : limits_(limits), diagnostics_(diagnostics) {
    VisitStmt(func.body);
  }

 protected:
  void VisitAllocate(const tir::Allocate* allocate) override {
    StmtExprVisitor::VisitAllocate(allocate);
    int64_t bytes = allocate->dtype.bytes();
    for (const PrimExpr* extent : allocate->extents) {
      const int64_t* size = arith::AsInt(extent);
      bytes = SaturatedProduct(bytes, size ? *size : 0);
    }
    const tir::PointerInfo* pointer = allocate->buffer_var->pointer;
    const StorageRank rank = StorageScope::Of(pointer ? pointer->scope : "").rank;
    if (rank == StorageRank::kLocal) local_memory_ += std::min(bytes, kNoLimit - local_memory_);
    if (rank == StorageRank::kShared) shared_memory_ += std::min(bytes, kNoLimit - shared_memory_);
    CheckVector(allocate->dtype, *allocate);
  }

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const tir::IterVar* axis = tir::ThreadAxisOf(*stmt);
    if (!axis) return StmtExprVisitor::VisitAttrStmt(stmt);
    if (depth_ == 0) EnterKernel();
    if (const int64_t* extent = arith::AsInt(stmt->value)) CheckAxis(*axis, *extent, *stmt);
    ++depth_;
    StmtExprVisitor::VisitAttrStmt(stmt);
    if (--depth_ == 0) LeaveKernel(*stmt);
  }

  void VisitCast(const tir::Cast* cast) override {
    CheckVector(cast->dtype, *cast);
    StmtExprVisitor::VisitCast(cast);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    CheckVector(load->dtype, *load);
    if (load->dtype.lanes != 1) CheckStrides(load->indices);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    CheckVector(store->value->dtype, *store);
    if (store->value->dtype.lanes != 1) CheckStrides(store->indices);
    StmtExprVisitor::VisitBufferStore(store);
  }

 private:
  void EnterKernel() {
    ++kernels_;
    local_memory_ = shared_memory_ = 0;
    threads_ = 1;
    extents_.clear();
  }

  void CheckAxis(const tir::IterVar& axis, int64_t extent, const Node& at) {
    const bool is_virtual = IsVirtualThreadTag(axis.thread_tag);
    const ThreadTag tag = ThreadTag::Of(axis.thread_tag);
    if (!is_virtual && tag.rank != ThreadRank::kThread) return;
    const auto [known, is_new] = extents_.emplace(axis.thread_tag, extent);
    if (!is_new) {
      if (!is_virtual && known->second != extent) {
        Refuse(at, fmt::format("{} has the extents {} and {}", axis.thread_tag, known->second, extent));
      }
      return;
    }
    threads_ = SaturatedProduct(threads_, extent);
    const int64_t limit = is_virtual ? limits_.vthread : limits_.thread_axes[static_cast<size_t>(tag.dim)];
    CheckLimit(fmt::format("the extent of {}", axis.thread_tag), extent, limit, at);
  }

  void LeaveKernel(const Node& at) {
    CheckLimit("the number of threads of a block", threads_, limits_.threads, at);
    CheckLimit("the local memory of a block", local_memory_, limits_.local_memory, at);
    CheckLimit("the shared memory of a block", shared_memory_, limits_.shared_memory, at);
    CheckLimit("the number of kernels", kernels_, limits_.kernels, at);
  }

  void CheckVector(DataType dtype, const Node& at) {
    if (dtype.lanes == 1) return;
    CheckLimit(fmt::format("the number of bytes of {}", dtype.ToString()), dtype.bytes(), limits_.vector_bytes, at);
  }
  void CheckStrides(List<const PrimExpr*> indices) {
    for (const PrimExpr* index : indices) {
      const auto* ramp = As<tir::Ramp>(index);
      if (ramp && !arith::IsInt(ramp->stride, 1)) CheckVector(ramp->dtype, *ramp);
    }
  }

  void CheckLimit(std::string_view what, int64_t value, int64_t limit, const Node& at) {
    if (value > limit) Refuse(at, fmt::format("{} is {}, more than {}", what, value, limit));
  }
  void Refuse(const Node& at, std::string message) {
    diagnostics_.Error(Location(at), "pass-failed", std::move(message));
  }

  const GpuLimits& limits_;
  DiagnosticEngine& diagnostics_;
  int depth_ = 0;  // of axes
  int64_t kernels_ = 0;
  // Of the current kernel.
  int64_t local_memory_ = 0;
  int64_t shared_memory_ = 0;
  int64_t threads_ = 1;
  std::map<std::string_view, int64_t> extents_;  // by tag
};

GpuLimits ReadGpuLimits(const PassOptions& options) {
  const pass_options::VerifyGPUCode given(options);
  GpuLimits limits;
  constexpr std::string_view kForm = "must be an object of limits by their names";
  for (const OptionValue::Entry& entry : options.Entries(given.constraints, kForm)) {
    int64_t* limit = limits.Find(entry.key);
    const int64_t* value = entry.value.as_int();
    if (!limit) {
      options.Refuse(given.constraints, entry.key_span, fmt::format("must not have the unknown limit '{}'", entry.key));
    } else if (!value) {
      options.Refuse(given.constraints, entry.value.span(), "must have integers as values");
    } else {
      *limit = *value;
    }
  }
  return limits;
}

}  // namespace

Pass CreateVerifyGPUCode(const PassOptions& options) {
  return CreateModulePass(
      options.info(), [limits = ReadGpuLimits(options)](Module module, ModulePassContext& context) -> Result<Module> {
        for (const ModuleEntry& entry : module.functions()) {
          if (const auto* func = As<PrimFunc>(entry.func)) GpuCodeVerifier(*func, limits, context.diagnostics);
        }
        return module;
      });
}

}  // namespace iropt
