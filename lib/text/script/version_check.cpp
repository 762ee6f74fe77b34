// What the text of a version of TVM cannot express.
#include <fmt/format.h>

#include <algorithm>

#include "func_attrs.h"
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
    if (version_ < TextVersion::kV0_25 && !text::IsSTir(*func))
      Lacks(Location(*func), "a PrimFunc that is not of s_tir", TextVersion::kV0_25);
    tir::PostOrderVisit(func->body, [&](const Node* node) { CheckNode(node); });
  }

 private:
  void CheckNode(const Node* node) {
    constexpr TextVersion kBefore = TextVersion::kV0_23;
    const bool flat = version_ > kBefore;
    const bool has_layouts = version_ >= TextVersion::kV0_25;
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
      case NodeKind::kPrimCall: {
        const auto* call = static_cast<const tir::Call*>(node);
        const auto* op = As<Op>(call->op);
        const bool is_later = op && op->info->id > OpId::kTirAssertMessage && op->info->id <= OpId::kTirTileLayout;
        if (is_later && !has_layouts) Lacks(Location(*call), op->info->script, TextVersion::kV0_25);
        break;
      }
      default: break;
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
