#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "buffer_moves.h"
#include "func_attrs.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/intrinsics.h"
#include "iropt/op/op.h"
#include "iropt/support/function_ref.h"
#include "iropt/text/script/version.h"
#include "tir/simple_buffer.h"

namespace iropt {
namespace {

// The boundaries between two versions that a move crosses.
struct Move {
  TextVersion from, to;

  bool Down(TextVersion since) const { return from >= since && to < since; }
  bool Up(TextVersion since) const { return from < since && to >= since; }
  bool Crosses(TextVersion since) const { return Down(since) || Up(since); }
};

// Flags are booleans since this version, numbers before.
constexpr TextVersion kBooleanFlags = TextVersion::kV0_21;
// Calls of packed functions end with a handle of resources, a null pointer, before this version.
constexpr TextVersion kNoResources = TextVersion::kV0_21;
// Calls of LLVM's intrinsics state how many operands they have before this version.
constexpr TextVersion kUncountedOperands = TextVersion::kV0_22;
constexpr TextVersion kDeclaredBuffers = TextVersion::kV0_24;
// Calls for tensor cores state the dtype of their elements before this version.
constexpr TextVersion kUntypedMatrixCalls = TextVersion::kV0_25;
constexpr TextVersion kTypedBuffers = TextVersion::kV0_26;
// Reductions across threads state a number for their scope since this version, a null pointer before.
constexpr TextVersion kNumberedScopes = TextVersion::kV0_26;

bool IsLlvmCall(const tir::Call& call) {
  return IsOp(call.op, op::kTirCallLlvmIntrin) || IsOp(call.op, op::kTirCallLlvmPureIntrin);
}

bool IsMatrixCall(const Op& op) {
  return IsOneOf(op, op::kTirMmaFill, op::kTirMmaFillLegacy, op::kTirMmaStore, op::kTirMmaStoreLegacy,
                 op::kTirPtxLdmatrix, op::kTirPtxMma);
}

// Returns whether the text of the call has its type.
bool StatesType(const tir::Call& call) {
  const auto* op = As<Op>(call.op);
  const IntrinsicInfo* info = op ? IntrinsicOf(op) : nullptr;
  return info && (info->dtype_print != DtypePrint::kNone || info->result == ResultDtype::kGiven);
}

// T.reinterpret("handle", T.uint64(0))
bool IsNullPointer(const PrimExpr* value) {
  const auto* call = CallOf(value, op::kTirReinterpret);
  return call && call->dtype.is_handle() && call->args.size() == 1 && arith::IsInt(call->args[0], 0);
}

// Calls whose results are bound to pointers with an element type state that type since this version.
constexpr TextVersion kTypedPointers = TextVersion::kV0_27;

// Finds out whether a PrimFunc has constructs that versions write in different ways.
class SpellingSurvey : public tir::StmtExprVisitor {
 public:
  explicit SpellingSurvey(const PrimFunc& func) { VisitStmt(func.body); }
  bool found() const { return found_; }

 protected:
  using tir::StmtExprVisitor::VisitExpr;
  void VisitBlock(const tir::Block* block) override {
    found_ |= block->annotations->Find(attr::kAutoCopy) != nullptr;
    tir::StmtExprVisitor::VisitBlock(block);
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    found_ |= stmt->attr_key == attr::kReduceScope;
    tir::StmtExprVisitor::VisitAttrStmt(stmt);
  }
  void VisitLetStmt(const tir::LetStmt* stmt) override {
    found_ |= stmt->var->pointer != nullptr;
    tir::StmtExprVisitor::VisitLetStmt(stmt);
  }
  void VisitCall(const tir::Call* call) override {
    const auto* op = As<Op>(call->op);
    found_ |= op && (IsLlvmCall(*call) || IsMatrixCall(*op) || op->info->id == op::kTirTvmCallCpacked);
    tir::StmtExprVisitor::VisitCall(call);
  }

 private:
  bool found_ = false;
};

// The flag as the new version has it: up, each number is a boolean; down, each boolean is a number.
const Attr* MovedFlag(const Attr* flag, const Move& move) {
  const auto* number = As<IntAttr>(flag);
  if (!number || !move.Crosses(kBooleanFlags)) return flag;
  return move.Up(kBooleanFlags) ? IntAttr::Bool(number->value != 0) : IntAttr::Get(number->value);
}

// T.call_llvm_pure_intrin("float32", "llvm.sqrt", T.uint32(1), x), T.attr(..., "reduce_scope", 0), and flags of blocks.
class MoveSpellings : public tir::StmtExprMutator {
 public:
  MoveSpellings(const Move& move, Workspace& workspace) : tir::StmtExprMutator(workspace), move_(move) {}

 protected:
  using tir::StmtExprMutator::VisitExpr;
  const PrimExpr* VisitCall(const tir::Call* call) override {
    const auto* visited = To<tir::Call>(tir::StmtExprMutator::VisitCall(call));
    if (IsOp(visited->op, op::kTirTvmCallCpacked)) return MovePackedCall(*visited);
    if (const auto* op = As<Op>(visited->op); op && IsMatrixCall(*op)) return MoveMatrixCall(*visited, op->info->id);
    if (!IsLlvmCall(*visited) || visited->args.empty() || !move_.Crosses(kUncountedOperands)) return visited;
    std::vector<const PrimExpr*> args(visited->args.begin(), visited->args.end());
    if (move_.Down(kUncountedOperands)) {
      const auto count = static_cast<int64_t>(args.size()) - 1;
      args.insert(args.begin() + 1, arith::PrimBuilder(workspace()).Int(count, DataType::UInt(32)));
    } else if (args.size() > 1 && Is<tir::IntImm>(args[1]) && args[1]->dtype == DataType::UInt(32)) {
      args.erase(args.begin() + 1);
    }
    return WithArgs(*visited, args);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* visited = To<tir::AttrStmt>(tir::StmtExprMutator::VisitAttrStmt(stmt));
    if (visited->attr_key != attr::kReduceScope) return visited;
    const bool becomes_number = move_.Up(kNumberedScopes) && IsNullPointer(visited->value);
    const bool becomes_pointer = move_.Down(kNumberedScopes) && arith::IsInt(visited->value, 0);
    if (!becomes_number && !becomes_pointer) return visited;
    const arith::PrimBuilder make(workspace());
    auto* result = workspace().New<tir::AttrStmt>(*visited);
    result->value = becomes_number ? make.Int(0, DataType::Int(32)) : NullPointer();
    return result;
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* stmt) override {
    const auto* visited = To<tir::LetStmt>(tir::StmtExprMutator::VisitLetStmt(stmt));
    const auto* call = As<tir::Call>(visited->value);
    const tir::PointerInfo* pointer = visited->var->pointer;
    if (!move_.Up(kTypedPointers) || !call || !call->dtype.is_handle() || call->pointer || !pointer ||
        !StatesType(*call))
      return visited;
    auto* typed = workspace().New<tir::Call>(*call);
    typed->pointer = pointer;
    auto* result = workspace().New<tir::LetStmt>(*visited);
    result->value = typed;
    return result;
  }
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const auto* visited = To<tir::Block>(tir::StmtExprMutator::VisitBlock(block));
    const Attr* flag = visited->annotations->Find(attr::kAutoCopy);
    const Attr* moved = flag ? MovedFlag(flag, move_) : nullptr;
    if (moved == flag) return visited;
    auto* result = workspace().New<tir::Block>(*visited);
    result->annotations = visited->annotations->With(attr::kAutoCopy, moved);
    return result;
  }

 private:
  // The newer calls state no dtype, the older ones that of the elements in registers. T.mma_fill and T.mma_store are
  // calls of other names there.
  const PrimExpr* MoveMatrixCall(const tir::Call& call, OpId id) {
    const bool fills = id == op::kTirMmaFill || id == op::kTirMmaFillLegacy;
    const bool stores = id == op::kTirMmaStore || id == op::kTirMmaStoreLegacy;
    const bool is_newer = id == op::kTirMmaFillLegacy || id == op::kTirMmaStoreLegacy;
    if (move_.Up(kUntypedMatrixCalls) && !is_newer && (fills || stores)) {
      return WithOp(call, fills ? op::kTirMmaFillLegacy : op::kTirMmaStoreLegacy, DataType::Handle());
    }
    if (!move_.Down(kUntypedMatrixCalls) || ((fills || stores) && !is_newer)) return &call;
    const uint32_t pointer = fills ? 1 : stores ? 3 : id == op::kTirPtxLdmatrix ? 3 : 10;
    const auto* registers = pointer < call.args.size() ? As<tir::Var>(call.args[pointer]) : nullptr;
    const DataType known = registers && registers->pointer ? registers->pointer->elem : DataType::Void();
    const DataType dtype = known.is_void() ? call.dtype : known;
    if (fills) id = op::kTirMmaFill;
    if (stores) id = op::kTirMmaStore;
    return WithOp(call, id, dtype);
  }
  const PrimExpr* WithOp(const tir::Call& call, OpId id, DataType dtype) {
    auto* result = workspace().New<tir::Call>(dtype, GetOp(id), call.args, call.pointer);
    result->set_span(call.span());
    return result;
  }
  const PrimExpr* MovePackedCall(const tir::Call& call) {
    if (!move_.Crosses(kNoResources) || call.args.empty()) return &call;
    std::vector<const PrimExpr*> args(call.args.begin(), call.args.end());
    if (move_.Down(kNoResources)) {
      args.push_back(NullPointer());
    } else if (IsNullPointer(args.back())) {
      args.pop_back();
    }
    return WithArgs(call, args);
  }
  const PrimExpr* NullPointer() {
    const PrimExpr* const args[] = {arith::PrimBuilder(workspace()).Int(0, DataType::UInt(64))};
    return workspace().New<tir::Call>(DataType::Handle(), GetOp(op::kTirReinterpret),
                                      workspace().Copy(std::span<const PrimExpr* const>(args)));
  }
  const PrimExpr* WithArgs(const tir::Call& call, const std::vector<const PrimExpr*>& args) {
    auto* result = workspace().New<tir::Call>(call.dtype, call.op, workspace().Copy(args), call.pointer);
    result->set_span(call.span());
    return result;
  }

  const Move& move_;
};

// The pointers of buffers that need a line of their own in older text have the names that TVM gives them.
const PrimFunc* WithNamedPointers(const PrimFunc* func, Workspace& workspace) {
  std::vector<const tir::Var*> params(func->params.begin(), func->params.end());
  for (uint32_t i = 0; i < params.size(); ++i) {
    const tir::Buffer* buffer = func->param_buffers[i];
    if (!buffer || text::IsSimple(buffer)) continue;
    tir::Var* pointer = workspace.NewPrimVar(fmt::format("var_{}", buffer->name), params[i]->dtype, params[i]->pointer);
    pointer->set_span(params[i]->span());
    params[i] = pointer;
  }
  if (std::ranges::equal(params, func->params)) return func;
  auto* result = workspace.New<PrimFunc>(workspace.Copy(params), func->param_buffers, func->body, func->ret_type,
                                         func->attrs, nullptr);
  result->set_span(func->span());
  result->type = PrimFuncType(result);
  return result;
}

// The pass that marks a function as scheduled wrote a number, users a boolean.
const DictAttr* MovedAttrs(const DictAttr* attrs, const Move& move) {
  for (const std::string_view key : {attr::kIsHostFunc, attr::kIsScheduled}) {
    const Attr* flag = attrs->Find(key);
    if (flag && (key == attr::kIsHostFunc || move.Up(kBooleanFlags))) attrs = attrs->With(key, MovedFlag(flag, move));
  }
  return attrs;
}

const PrimFunc* MovePrimFunc(const PrimFunc* func, const Move& move, Workspace& workspace) {
  if (move.Down(kTypedBuffers)) func = WithNamedPointers(func, workspace);
  if (const DictAttr* attrs = MovedAttrs(func->attrs, move); attrs != func->attrs) {
    auto* result = workspace.New<PrimFunc>(*func);
    result->attrs = attrs;
    func = result;
  }
  if (!move.Crosses(kBooleanFlags) && !move.Crosses(kUncountedOperands) && !move.Crosses(kDeclaredBuffers) &&
      !move.Crosses(kUntypedMatrixCalls) && !move.Crosses(kNumberedScopes) && !move.Crosses(kTypedPointers))
    return func;
  const tir::Stmt* body = func->body;
  if (SpellingSurvey(*func).found()) body = MoveSpellings(move, workspace).VisitStmt(body);
  func = tir::WithBody(func, body, workspace);
  if (move.Up(kDeclaredBuffers)) return text::WithDeclarations(func, workspace);
  return move.Down(kDeclaredBuffers) ? text::WithoutDeclarations(func, workspace) : func;
}

const PrimFunc* CompletePrimFunc(const PrimFunc* func, TextVersion version, Workspace& workspace) {
  // Only what passes write in the form of older versions, and what a second time leaves as it is.
  const Move move{TextVersion::kV0_25, version};
  if (SpellingSurvey(*func).found())
    func = tir::WithBody(func, MoveSpellings(move, workspace).VisitStmt(func->body), workspace);
  return text::WithMissingDeclarations(func, workspace);
}

class DropDeclarations : public tir::StmtExprMutator {
 public:
  using tir::StmtExprMutator::StmtExprMutator;

 protected:
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* stmt) override { return VisitStmt(stmt->body); }
};

void ChangePrimFuncs(Module& module, FunctionRef<const PrimFunc*(const PrimFunc*, Workspace&)> change) {
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* func = As<PrimFunc>(entry.func);
    if (!func) continue;
    Workspace workspace(module, entry.storage);
    const PrimFunc* changed = change(func, workspace);
    if (changed != func) module.SetAt(i, changed, workspace.Finish());
  }
}

// The reader leaves Primitive as it is where nothing shows the version.
class NumberPrimitive : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;
  using ExprMutator::VisitExpr;

 protected:
  const Expr* VisitFunction(const Function* function) override {
    const auto* visited = To<Function>(ExprMutator::VisitFunction(function));
    const Attr* flag = visited->attrs->Find(attr::kPrimitive);
    const Attr* number = flag ? text::FuncAttrOfText(attr::kPrimitive, flag, kBooleanFlags) : nullptr;
    if (number == flag) return visited;
    auto* result = workspace().New<Function>(*visited);
    result->attrs = visited->attrs->With(attr::kPrimitive, number);
    return result;
  }
};

}  // namespace

void MoveToVersion(Module& module, TextVersion version) {
  const bool is_unknown = !module.text_version();
  const Move move{module.text_version().value_or(TextVersion::kV0_18), version};
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry entry = module.functions()[i];
    Workspace workspace(module, entry.storage);
    const BaseFunc* moved = entry.func;
    if (const auto* func = As<PrimFunc>(entry.func)) {
      moved = MovePrimFunc(func, move, workspace);
    } else if (const auto* function = As<Function>(entry.func); function && is_unknown) {
      moved = static_cast<const BaseFunc*>(NumberPrimitive(workspace).VisitExpr(function));
    }
    if (moved != entry.func) module.SetAt(i, moved, workspace.Finish());
  }
  module.set_text_version(version);
}

void CompleteForVersion(Module& module) {
  const TextVersion version = module.text_version().value_or(TextVersion::kV0_18);
  if (version < kDeclaredBuffers) return;
  ChangePrimFuncs(
      module, [&](const PrimFunc* func, Workspace& workspace) { return CompletePrimFunc(func, version, workspace); });
}

Module WithoutBufferDeclarations(Module module) {
  if (module.text_version().value_or(TextVersion::kV0_18) < kDeclaredBuffers) return module;
  ChangePrimFuncs(module, [](const PrimFunc* func, Workspace& workspace) {
    return tir::WithBody(func, DropDeclarations(workspace).VisitStmt(func->body), workspace);
  });
  return module;
}

}  // namespace iropt
