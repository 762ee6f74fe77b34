// What the text of a version of TVM cannot express.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op_attrs.h"
#include "iropt/text/script/printer.h"

namespace iropt {
namespace {

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
        if (flat) Dropped(Location(*static_cast<const tir::Prefetch*>(node)), "T.prefetch", kBefore);
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
        if (is_later && attr->attr_key == "tirx.scope_id")
          Lacks(Location(*attr), "indices of threads by scope", TextVersion::kV0_25);
        if (is_later && attr->attr_key == "tirx_hint") Lacks(Location(*attr), "T.hint", TextVersion::kV0_25);
        break;
      }
      case NodeKind::kPrimCall:
        if (version_ < TextVersion::kV0_25) CheckCall(static_cast<const tir::Call*>(node));
        break;
      default: break;
    }
  }

  // Calls that came with 0.24 and 0.25. A default layout is how older versions lay out every buffer.
  void CheckCall(const tir::Call* call) {
    const auto* op = As<Op>(call->op);
    if (!op) return;
    if (IsOneOf(*op, OpId::kTirTileCall, OpId::kTirDeviceCall, OpId::kTirPureDeviceCall)) {
      const auto* name = call->args.empty() ? nullptr : As<tir::StringImm>(call->args[0]);
      Lacks(Location(*call), name ? fmt::format("T.{}", name->value) : "such calls", TextVersion::kV0_25);
    } else if (op->info->id == OpId::kTirAssertMessage) {
      if (version_ < TextVersion::kV0_24)
        Lacks(Location(*call), "assertions with kinds of errors", TextVersion::kV0_24);
    } else if (op->info->id == OpId::kTirAttributedCall) {
      Lacks(Location(*call), "calls with attributes", TextVersion::kV0_25);
    } else if (IsOneOf(*op, OpId::kTirTileLayout, OpId::kTirComposeLayout)) {
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
