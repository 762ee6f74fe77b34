// The check for constructs that the text of a version of TVM cannot express.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/device_calls.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_attrs.h"
#include "iropt/support/lookup.h"
#include "iropt/text/script/printer.h"

namespace iropt {
namespace {

// The intrinsics that not every version has: the first version that has them, or the last one.
struct IntrinsicVersions {
  OpId id;
  TextVersion since = TextVersion::kV0_18;
  std::optional<TextVersion> until = std::nullopt;
};
constexpr IntrinsicVersions kIntrinsicVersions[] = {
    {op::kTirTvmCheckReturn, TextVersion::kV0_18, TextVersion::kV0_20},
    {op::kTirCreateBarriers, TextVersion::kV0_18, TextVersion::kV0_24},
    {op::kTirPtxArriveBarrier, TextVersion::kV0_18, TextVersion::kV0_24},
    {op::kTirPtxArriveBarrierExpectTx, TextVersion::kV0_18, TextVersion::kV0_24},
    {op::kTirPtxCpAsyncBarrier, TextVersion::kV0_18, TextVersion::kV0_24},
    {op::kTirPtxCpAsyncBulk, TextVersion::kV0_18, TextVersion::kV0_24},
    {op::kTirPtxInitBarrierThreadCount, TextVersion::kV0_18, TextVersion::kV0_24},
    {op::kTirPtxMmaSp, TextVersion::kV0_18, TextVersion::kV0_24},
    {op::kTirPtxWaitBarrier, TextVersion::kV0_18, TextVersion::kV0_24},
    {op::kTirIgnoreLoopPartition, TextVersion::kV0_20},
    {op::kTirHandleAddByteOffset, TextVersion::kV0_21},
    {op::kTirBreakLoop, TextVersion::kV0_22},
    {op::kTirContinueLoop, TextVersion::kV0_22},
    {op::kTirThreadReturn, TextVersion::kV0_22},
    {op::kTirAssertMessage, TextVersion::kV0_24},
    {op::kTirBufferOffset, TextVersion::kV0_25},
    {op::kTirCooperativeTensorFill, TextVersion::kV0_25},
    {op::kTirCooperativeTensorLoad, TextVersion::kV0_25},
    {op::kTirCooperativeTensorMultiplyAccumulate, TextVersion::kV0_25},
    {op::kTirCooperativeTensorStore, TextVersion::kV0_25},
    {op::kTirFilter, TextVersion::kV0_25},
    {op::kTirMmaFillLegacy, TextVersion::kV0_25},
    {op::kTirMmaStoreLegacy, TextVersion::kV0_25},
    {op::kTirPrintBuffer, TextVersion::kV0_25},
    {op::kTirPtrByteOffset, TextVersion::kV0_25},
    {op::kTirSelector, TextVersion::kV0_25},
    {op::kTirTvmKernelReplacePoint, TextVersion::kV0_25},
    {op::kTirTvmWarpShuffleXor, TextVersion::kV0_25},
};

class VersionChecker : public WalkHandler {
 public:
  VersionChecker(TextVersion version, DiagnosticEngine& diagnostics) : version_(version), diagnostics_(diagnostics) {}

  void OnCall(const Call& call) {
    const auto* op = As<Op>(call.op);
    if (!op) return;
    const OpInfo& info = *op->info;
    if (info.since > version_) return Lacks(Location(call), info.script, info.since);
    for (size_t i = 0; i < std::min<size_t>(info.args.size(), call.args.size()); ++i) {
      const OpArg& arg = info.args[i];
      if (arg.since > version_) Lacks(Location(call), fmt::format("'{}' of {}", arg.name, info.script), arg.since);
    }
    const auto* record = call.attrs ? As<ObjectAttr>(call.attrs) : nullptr;
    if (!record || !HasRecordOf(info, record)) return;
    for (size_t i = 0; i < info.attrs.size(); ++i) {
      const OpAttr& attr = info.attrs[i];
      if (!IsWritten(info, attr, record->values[i], version_)) continue;
      const std::string what = fmt::format("'{}' of {}", attr.name, info.script);
      if (attr.since > version_) Lacks(Location(call), what, attr.since);
      if (attr.until && version_ > *attr.until) Dropped(Location(call), what, *attr.until);
    }
  }

  void Check(const PrimFunc* func) {
    for (const tir::Buffer* buffer : func->param_buffers) CheckBuffer(buffer);
    tir::PostOrderVisit(func->body, [&](const Node* node) { CheckNode(node); });
  }

 private:
  void CheckNode(const Node* node) {
    constexpr TextVersion kBefore = TextVersion::kV0_23;
    const bool flat = version_ > kBefore;
    switch (node->kind) {
      case NodeKind::kAllocateConst:
        if (flat) Dropped(Location(*static_cast<const tir::AllocateConst*>(node)), "T.allocate_const", kBefore);
        break;
      case NodeKind::kPrefetch:
        if (version_ > TextVersion::kV0_20)
          Dropped(Location(*static_cast<const tir::Prefetch*>(node)), "T.prefetch", TextVersion::kV0_20);
        break;
      case NodeKind::kBufferRealize:
        if (flat) Dropped(Location(*static_cast<const tir::BufferRealize*>(node)), "T.realize", kBefore);
        break;
      case NodeKind::kAllocate: {
        const auto* allocate = static_cast<const tir::Allocate*>(node);
        if (flat && !arith::IsInt(allocate->condition, 1))
          Dropped(Location(*allocate), "the condition of T.allocate", kBefore);
        break;
      }
      case NodeKind::kAttrStmt: {
        const auto* attr = static_cast<const tir::AttrStmt*>(node);
        const bool is_later = version_ < TextVersion::kV0_25;
        if (is_later && attr->attr_key == attr::kScopeId)
          Lacks(Location(*attr), "indices of threads by scope", TextVersion::kV0_25);
        if (is_later && attr->attr_key == attr::kHint) Lacks(Location(*attr), "T.hint", TextVersion::kV0_25);
        break;
      }
      case NodeKind::kFor: {
        const auto* loop = static_cast<const tir::For*>(node);
        if (loop->step && version_ < TextVersion::kV0_23)
          Lacks(Location(*loop), "loops with a step", TextVersion::kV0_23);
        break;
      }
      case NodeKind::kBlockStmt:
        for (const tir::Buffer* buffer : static_cast<const tir::Block*>(node)->alloc_buffers) CheckBuffer(buffer);
        break;
      case NodeKind::kDeclBuffer: CheckBuffer(static_cast<const tir::DeclBuffer*>(node)->buffer); break;
      case NodeKind::kBufferLoad: CheckBuffer(static_cast<const tir::BufferLoad*>(node)->buffer); break;
      case NodeKind::kBufferStore: CheckBuffer(static_cast<const tir::BufferStore*>(node)->buffer); break;
      case NodeKind::kPrimCall: CheckCall(static_cast<const tir::Call*>(node)); break;
      default: break;
    }
  }

  // Once for each buffer.
  void CheckBuffer(const tir::Buffer* buffer) {
    if (version_ < TextVersion::kV0_26 || !buffer || !buffers_.insert(buffer)) return;
    if (!buffer->axis_separators.empty()) Dropped(Location(*buffer), "axis_separators", TextVersion::kV0_25);
    if (buffer->buffer_type != tir::BufferType::kDefault)
      Dropped(Location(*buffer), "buffer_type=\"auto\"", TextVersion::kV0_25);
  }

  void CheckCall(const tir::Call* call) {
    const auto* op = As<Op>(call->op);
    if (!op) return;
    for (const IntrinsicVersions& versions : kIntrinsicVersions) {
      if (versions.id != op->info->id) continue;
      const bool is_message = versions.id == op::kTirAssertMessage;
      const std::string_view what = is_message ? "assertions with kinds of errors" : op->info->script;
      if (version_ < versions.since) Lacks(Location(*call), what, versions.since);
      if (versions.until && version_ > *versions.until) Dropped(Location(*call), what, *versions.until);
    }
    if (version_ < TextVersion::kV0_25) CheckNewCall(call, op);
  }

  // Calls that came with 0.25. A default layout is how older versions lay out every buffer.
  void CheckNewCall(const tir::Call* call, const Op* op) {
    if (CopyGroupOf(call) != op::kTirDeviceCall) return;
    if (IsOneOf(*op, op::kTirTileCall, op::kTirDeviceCall, op::kTirPureDeviceCall)) {
      const auto* name = call->args.empty() ? nullptr : As<tir::StringImm>(call->args[0]);
      Lacks(Location(*call), name ? fmt::format("T.{}", name->value) : "such calls", TextVersion::kV0_25);
    } else if (op->info->id == op::kTirAttributedCall) {
      Lacks(Location(*call), "calls with attributes", TextVersion::kV0_25);
    } else if (IsOneOf(*op, op::kTirTileLayout, op::kTirComposeLayout)) {
      Lacks(Location(*call), "layouts of buffers", TextVersion::kV0_25);
    }
  }

  void Lacks(SourceSpan span, std::string_view what, TextVersion since) {
    diagnostics_.Error(
        span, "text-version",
        fmt::format("the text of TVM {} has no {}, which came with {}", ToString(version_), what, ToString(since)));
  }
  void Dropped(SourceSpan span, std::string_view what, TextVersion until) {
    diagnostics_.Error(span, "text-version",
                       fmt::format("the text of TVM {} has no {}: the last that has it is {}", ToString(version_), what,
                                   ToString(until)));
  }

  const TextVersion version_;
  DiagnosticEngine& diagnostics_;
  LookupSet<const tir::Buffer*> buffers_;
};

}  // namespace

bool CheckTextVersion(const Module& module, DiagnosticEngine& diagnostics) {
  const size_t errors = diagnostics.error_count();
  VersionChecker checker(module.text_version().value_or(TextVersion::kV0_18), diagnostics);
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(*function, checker);
    if (const auto* prim = As<PrimFunc>(entry.func)) checker.Check(prim);
  }
  return diagnostics.error_count() == errors;
}

}  // namespace iropt
