// tir.VerifyMemory: refuses functions that access the memory of a GPU from the host.
//
//   def main(A: T.Buffer((8,), "float32")):
//       T.func_attr({"target": T.target("cuda")})
//       for i in range(8):
//           A[i] = T.float32(0)                       # error: no thread runs this
//
// In a function for a GPU or an FPGA, loads from and stores to parameters must be inside a thread axis
// (T.launch_thread) or a pipeline. Functions with a calling convention, which others have split already, are not
// checked, nor is memory that the function allocates. Functions must state their target. Nothing changes. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "iropt/ir/dlpack.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/util/target.h"

namespace iropt {

namespace {

class HostAccessFinder : public tir::StmtExprVisitor {
 public:
  HostAccessFinder(const PrimFunc& func, DiagnosticEngine& diagnostics) : func_(func), diagnostics_(diagnostics) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) param_data_.insert(buffer->data);
    }
  }

 protected:
  void VisitLetStmt(const tir::LetStmt* let) override {
    values_[let->var] = let->value;
    StmtExprVisitor::VisitLetStmt(let);
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const bool on_device = stmt->attr_key == attr::kThreadExtent || stmt->attr_key == attr::kPipelineExecScope;
    const bool outer = std::exchange(on_device_, on_device_ || on_device);
    StmtExprVisitor::VisitAttrStmt(stmt);
    on_device_ = outer;
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Check(*load->buffer, *load);
    StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    Check(*store->buffer, *store);
    StmtExprVisitor::VisitBufferStore(store);
  }

 private:
  // Returns whether the pointer is a parameter, or a field of a packed one.
  bool IsParam(const tir::Var* var) const {
    if (param_data_.contains(var)) return true;
    // At most as many steps as there are values, should they refer to each other.
    for (size_t i = 0; var && i <= values_.size(); ++i) {
      if (!func_.params.empty() && var == func_.params[0]) return true;
      const auto* value = values_.Find(var);
      const auto* call = !value ? nullptr : As<tir::Call>(*value);
      if (!call || !IsOp(call->op, op::kTirTvmStructGet)) return false;
      var = As<tir::Var>(call->args[0]);
    }
    return false;
  }

  // One error for each buffer.
  void Check(const tir::Buffer& buffer, const Node& at) {
    if (on_device_ || !IsParam(buffer.data) || !reported_.insert(buffer.data)) return;
    diagnostics_.Error(
        Location(at), "pass-failed",
        fmt::format("the host accesses the memory of '{}', which is on the device: bind a loop to threads",
                    buffer.name));
  }

  const PrimFunc& func_;
  DiagnosticEngine& diagnostics_;
  bool on_device_ = false;
  LookupSet<const tir::Var*> param_data_;
  LookupSet<const tir::Var*> reported_;
  LookupMap<const tir::Var*, const PrimExpr*> values_;
};

// GPUs and FPGAs by their numbers in DLPack and TVM.
bool HasOwnMemory(const DictAttr& target) {
  constexpr int64_t kCuda = 2, kOpenCl = 4, kVulkan = 7, kMetal = 8, kRocm = 10, kAocl = 32, kSdAccel = 33,
                    kOpenGl = 34;
  constexpr int64_t kDevices[] = {kCuda, kOpenCl, kVulkan, kMetal, kRocm, kAocl, kSdAccel, kOpenGl};
  const std::optional<int64_t> device = DLPackDeviceType(target);
  return device && std::ranges::find(kDevices, *device) != std::end(kDevices);
}

void VerifyMemory(const PrimFunc& func, DiagnosticEngine& diagnostics) {
  const DictAttr* target = RequireTarget(func, diagnostics);
  if (!target) return;
  const auto* convention = As<IntAttr>(func.attrs->Find(attr::kCallingConv));
  const bool is_split = convention && convention->value != 0;
  if (!is_split && HasOwnMemory(*target)) HostAccessFinder(func, diagnostics).VisitStmt(func.body);
}

}  // namespace

Pass CreateVerifyMemory(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    for (const ModuleEntry& entry : module.functions()) {
      if (const auto* func = As<PrimFunc>(entry.func)) VerifyMemory(*func, context.diagnostics);
    }
    return module;
  });
}

}  // namespace iropt
