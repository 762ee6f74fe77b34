// tir.LowerDeviceStorageAccessInfo: replaces allocations in special memory, which always exists, and access pointers.
//
//   A = T.allocate([64], "float32", "global.cache")           A: T.handle("float32", "global.cache") =
//   T.call_extern("int32", "f", T.tvm_access_ptr(      -->        T.call_extern("handle", "cache_head")
//       T.type_annotation("float32"), A, 8, 64, 1))           T.call_extern("int32", "f", T.address_of(A_1[8]))
//
// Special memory is that with a tag, other than shared.dyn. The option `memory_info` describes it: "head_address" is a
// function that returns where it begins; without one, it has no address, and the allocation goes away. An access
// pointer that is an integer becomes the number of the unit, of "unit_bits", that it begins in. O(nodes).
//
// Source: TVM 0.18's pass of this name, which asks global functions for the description.
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/LowerDeviceStorageAccessInfo.h"
#include "transform/tir/util/prim_func_pass.h"

namespace iropt {

namespace {

struct MemoryInfo {
  int64_t unit_bits = 8;
  std::string head_address = {};  // empty if it has no address
};

using MemoryInfos = std::map<std::string, MemoryInfo, std::less<>>;  // by scope

class StorageInfoLowerer : public tir::StmtExprMutator {
 public:
  StorageInfoLowerer(const MemoryInfos& infos, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace),
        infos_(infos),
        diagnostics_(diagnostics),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {}

 protected:
  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    const tir::PointerInfo* pointer = allocate->buffer_var->pointer;
    const std::string_view scope = pointer ? pointer->scope : "";
    const std::string_view tag = StorageScope::Of(scope).tag;
    if (tag.empty() || tag == ".dyn") return StmtExprMutator::VisitAllocate(allocate);
    const auto info = infos_.find(scope);
    if (info == infos_.end()) {
      diagnostics_.Error(Location(*allocate), "pass-failed",
                         fmt::format("the option 'memory_info' does not describe the memory {}", scope));
      return allocate;
    }
    info_of_[allocate->buffer_var] = &info->second;
    const tir::Stmt* body = VisitStmt(allocate->body);
    if (info->second.head_address.empty()) return body;
    const PrimExpr* name = workspace().New<tir::StringImm>(workspace().arena().CopyString(info->second.head_address));
    return workspace().New<tir::LetStmt>(allocate->buffer_var, Call(DataType::Handle(), op::kTirCallExtern, {name}),
                                         body);
  }

  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    const tir::Stmt* visited = StmtExprMutator::VisitDeclBuffer(decl);
    const MemoryInfo* info = InfoOf(decl->buffer->data);
    return info && info->head_address.empty() ? To<tir::DeclBuffer>(visited)->body : visited;
  }

  const PrimExpr* VisitCall(const tir::Call* call) override {
    const auto* visited = To<tir::Call>(StmtExprMutator::VisitCall(call));
    const auto* pointer =
        IsOp(call->op, op::kTirTvmAccessPtr) && call->args.size() == 5 ? As<tir::Var>(visited->args[1]) : nullptr;
    if (!pointer) return visited;
    const DataType dtype = visited->args[0]->dtype;
    const MemoryInfo* info = InfoOf(pointer);
    if (visited->dtype.is_handle()) {
      if (!info || !info->head_address.empty()) return AddressOf(pointer, dtype, visited->args[2]);
      return Refuse(visited, fmt::format("the memory of '{}' has no address", pointer->name));
    }
    const int64_t bits = int64_t{dtype.bits} * dtype.lanes;
    if (!info) return Refuse(visited, fmt::format("the memory of '{}' has no units", pointer->name));
    if (bits <= 0 || info->unit_bits % bits != 0) {
      return Refuse(
          visited, fmt::format("units of {} bits do not have a whole number of {}", info->unit_bits, dtype.ToString()));
    }
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* offset = visited->args[2];
    return make.Cast(visited->dtype,
                     analyzer_.Simplify(make.TruncDiv(offset, make.Const(info->unit_bits / bits, offset->dtype))));
  }

 private:
  const MemoryInfo* InfoOf(const tir::Var* pointer) const { return info_of_.Lookup(pointer); }
  const PrimExpr* Refuse(const tir::Call* call, std::string why) {
    diagnostics_.Error(Location(*call), "pass-failed", std::move(why));
    return call;
  }
  const PrimExpr* Call(DataType dtype, OpId op, const std::vector<const PrimExpr*>& args) {
    return workspace().New<tir::Call>(dtype, GetOp(op), workspace().Copy(args));
  }

  // Of the element at `offset`, in vectors if the dtype is one.
  const PrimExpr* AddressOf(const tir::Var* pointer, DataType dtype, const PrimExpr* offset) {
    const arith::PrimBuilder& make = analyzer_.make();
    const PrimExpr* lanes = make.Const(dtype.lanes, offset->dtype);
    const PrimExpr* begin = make.Mul(offset, lanes);
    tir::BufferSpec spec;
    spec.shape = {make.Add(begin, lanes)};
    spec.dtype = dtype.with_lanes(1);
    spec.data = pointer;
    const tir::Buffer* buffer = tir::MakeBuffer(workspace(), spec, pointer->name);
    const PrimExpr* index = dtype.lanes == 1 ? begin : make.Ramp(begin, make.Const(1, begin->dtype), make.Lanes(dtype));
    const PrimExpr* element = workspace().New<tir::BufferLoad>(dtype, buffer, workspace().Copy(std::vector{index}));
    return Call(DataType::Handle(), op::kTirAddressOf, {element});
  }

  const MemoryInfos& infos_;
  DiagnosticEngine& diagnostics_;
  arith::Analyzer analyzer_;
  LookupMap<const tir::Var*, const MemoryInfo*> info_of_;
};

MemoryInfos ReadMemoryInfos(const PassOptions& options) {
  const pass_options::LowerDeviceStorageAccessInfo given(options);
  MemoryInfos infos;
  const auto refuse = [&](SourceSpan span, std::string_view why) { options.Refuse(given.memory_info, span, why); };
  const OptionValue& value = *given.memory_info;
  if (!value.is_dict()) refuse(value.span(), "must be an object of descriptions by scopes");
  for (const OptionValue::Entry& scope : value.entries()) {
    MemoryInfo& info = infos[scope.key];
    if (!scope.value.is_dict())
      refuse(scope.value.span(), "must have objects with 'unit_bits' and 'head_address' as values");
    for (const OptionValue::Entry& field : scope.value.entries()) {
      const int64_t* bits = field.value.as_int();
      const std::string* head = field.value.as_string();
      if (field.key == "unit_bits" && bits && *bits > 0) {
        info.unit_bits = *bits;
      } else if (field.key == "head_address" && head) {
        info.head_address = *head;
      } else {
        refuse(field.key_span, "must have a positive 'unit_bits' and the name of a function as 'head_address'");
      }
    }
  }
  return infos;
}

}  // namespace

Pass CreateLowerDeviceStorageAccessInfo(const PassOptions& options) {
  return CreateMutatorPass<StorageInfoLowerer>(options.info(), {}, ReadMemoryInfos(options));
}

}  // namespace iropt
