#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "func_attrs.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/op.h"
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
constexpr TextVersion kTypedBuffers = TextVersion::kV0_26;
// What reductions across threads say about their scope is a number since this version, a null pointer before.
constexpr TextVersion kNumberedScopes = TextVersion::kV0_26;

constexpr std::string_view kAutoCopy = "auto_copy";
constexpr std::string_view kReduceScope = "reduce_scope";
constexpr std::string_view kIsHostFunc = "tir.is_host_func";
constexpr std::string_view kIsScheduledFunc = "tir.is_scheduled";

bool IsLlvmCall(const tir::Call& call) {
  return IsOp(call.op, OpId::kTirCallLlvmIntrin) || IsOp(call.op, OpId::kTirCallLlvmPureIntrin);
}

// T.reinterpret("handle", T.uint64(0))
bool IsNullPointer(const PrimExpr* value) {
  const auto* call = CallOf(value, OpId::kTirReinterpret);
  return call && call->dtype.is_handle() && call->args.size() == 1 && arith::IsInt(call->args[0], 0);
}

// What a PrimFunc reads and writes, what it declares, and whether it has what versions say in different ways.
class BufferSurvey : public tir::StmtExprVisitor {
 public:
  explicit BufferSurvey(const PrimFunc& func) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) memory_.insert(buffer->data);
    }
    VisitStmt(func.body);
  }

  bool HasSpellings() const { return has_spellings_; }
  // Whether the buffer is declared on memory that another buffer, or an allocation, has. Others need their declarations
  // where nothing accesses them.
  bool IsRemovable(const tir::Buffer* buffer) const {
    return aliases_.contains(buffer) && (IsAccessed(buffer) || allocated_.contains(buffer->data));
  }

  bool IsAccessed(const tir::Buffer* buffer) const { return accessed_.contains(buffer); }
  bool IsDeclared(const tir::Buffer* buffer) const { return declared_.contains(buffer); }
  bool HasDeclarations() const { return !declared_.empty(); }
  const std::vector<const tir::Buffer*>& order() const { return order_; }

  // Whether the function is as FlattenBuffer leaves it: no blocks, all indices are single ones, and buffers of
  // parameters, or those that MakePackedAPI declares on pointers, are accessed through others.
  bool IsFlat(const PrimFunc& func) const {
    const auto is_accessed = [&](const tir::Buffer* buffer) { return IsAccessed(buffer); };
    return flat_ && std::ranges::none_of(func.param_buffers, is_accessed) &&
           (num_views_ > 0 || std::ranges::none_of(roots_, is_accessed));
  }

 protected:
  using tir::StmtExprVisitor::VisitExpr;
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Access(load->buffer, load->indices.size());
    tir::StmtExprVisitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    tir::StmtExprVisitor::VisitBufferStore(store);
    Access(store->buffer, store->indices.size());
  }
  void VisitAllocate(const tir::Allocate* stmt) override {
    memory_.insert(stmt->buffer_var);
    allocated_.insert(stmt->buffer_var);
    tir::StmtExprVisitor::VisitAllocate(stmt);
  }
  void VisitDeclBuffer(const tir::DeclBuffer* stmt) override {
    declared_.insert(stmt->buffer);
    if (memory_.insert(stmt->buffer->data).second) {
      roots_.push_back(stmt->buffer);
    } else {
      aliases_.insert(stmt->buffer);
      num_views_ += !allocated_.contains(stmt->buffer->data);
    }
    tir::StmtExprVisitor::VisitDeclBuffer(stmt);
  }
  void VisitBlock(const tir::Block* block) override {
    flat_ = false;
    has_spellings_ |= block->annotations->Find(kAutoCopy) != nullptr;
    tir::StmtExprVisitor::VisitBlock(block);
  }
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    has_spellings_ |= stmt->attr_key == kReduceScope;
    tir::StmtExprVisitor::VisitAttrStmt(stmt);
  }
  void VisitCall(const tir::Call* call) override {
    has_spellings_ |= IsLlvmCall(*call) || IsOp(call->op, OpId::kTirTvmCallCpacked);
    tir::StmtExprVisitor::VisitCall(call);
  }

 private:
  void Access(const tir::Buffer* buffer, uint32_t ndim) {
    flat_ = flat_ && ndim <= 1;
    if (accessed_.insert(buffer).second) order_.push_back(buffer);
  }

  std::unordered_set<const tir::Var*> memory_, allocated_;
  std::unordered_set<const tir::Buffer*> accessed_, declared_, aliases_;
  std::vector<const tir::Buffer*> roots_;  // the first ones on pointers that are parameters, or defined
  std::vector<const tir::Buffer*> order_;  // of the first accesses
  size_t num_views_ = 0;                   // aliases of other buffers
  bool flat_ = true;
  bool has_spellings_ = false;
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
    if (IsOp(visited->op, OpId::kTirTvmCallCpacked)) return MovePackedCall(*visited);
    if (!IsLlvmCall(*visited) || visited->args.empty() || !move_.Crosses(kUncountedOperands)) return visited;
    std::vector<const PrimExpr*> args(visited->args.begin(), visited->args.end());
    if (move_.Down(kUncountedOperands)) {
      const auto count = static_cast<int64_t>(args.size()) - 1;
      args.insert(args.begin() + 1, arith::PrimBuilder(workspace().arena()).Int(count, DataType::UInt(32)));
    } else if (args.size() > 1 && Is<tir::IntImm>(args[1]) && args[1]->dtype == DataType::UInt(32)) {
      args.erase(args.begin() + 1);
    }
    return WithArgs(*visited, args);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* visited = To<tir::AttrStmt>(tir::StmtExprMutator::VisitAttrStmt(stmt));
    if (visited->attr_key != kReduceScope) return visited;
    const bool becomes_number = move_.Up(kNumberedScopes) && IsNullPointer(visited->value);
    const bool becomes_pointer = move_.Down(kNumberedScopes) && arith::IsInt(visited->value, 0);
    if (!becomes_number && !becomes_pointer) return visited;
    const arith::PrimBuilder make(workspace().arena());
    auto* result = workspace().New<tir::AttrStmt>(*visited);
    result->value = becomes_number ? make.Int(0, DataType::Int(32)) : NullPointer();
    return result;
  }
  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    const auto* visited = To<tir::Block>(tir::StmtExprMutator::VisitBlock(block));
    const Attr* flag = visited->annotations->Find(kAutoCopy);
    const Attr* moved = flag ? MovedFlag(flag, move_) : nullptr;
    if (moved == flag) return visited;
    auto* result = workspace().New<tir::Block>(*visited);
    result->annotations = visited->annotations->With(kAutoCopy, moved);
    return result;
  }

 private:
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
    const PrimExpr* const args[] = {arith::PrimBuilder(workspace().arena()).Int(0, DataType::UInt(64))};
    return workspace().New<tir::Call>(DataType::Handle(), GetOp(OpId::kTirReinterpret),
                                      workspace().Copy(std::span<const PrimExpr* const>(args)));
  }
  const PrimExpr* WithArgs(const tir::Call& call, const std::vector<const PrimExpr*>& args) {
    auto* result = workspace().New<tir::Call>(call.dtype, call.op, workspace().Copy(args), call.pointer);
    result->set_span(call.span());
    return result;
  }

  const Move& move_;
};

// Removes the declarations of what flat code accesses, and of buffers that only stand for their allocations. Those that
// MakePackedAPI makes on pointers stay.
class RemoveDeclarations : public tir::StmtExprMutator {
 public:
  RemoveDeclarations(const BufferSurvey& survey, Workspace& workspace)
      : tir::StmtExprMutator(workspace), survey_(survey) {}

 protected:
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* stmt) override {
    return survey_.IsRemovable(stmt->buffer) ? VisitStmt(stmt->body) : tir::StmtExprMutator::VisitDeclBuffer(stmt);
  }

 private:
  const BufferSurvey& survey_;
};

bool IsAllOf(const tir::Buffer& buffer, const tir::Allocate& allocate) {
  return buffer.dtype == allocate.dtype && buffer.strides.empty() && arith::IsInt(buffer.elem_offset, 0) &&
         std::ranges::equal(buffer.shape, allocate.extents, arith::DeepEqual);
}

// Declares buffers that are all of an allocation right after it: the allocation makes them.
class DeclareAllocations : public tir::StmtExprMutator {
 public:
  DeclareAllocations(const BufferSurvey& survey, Workspace& workspace) : tir::StmtExprMutator(workspace) {
    for (const tir::Buffer* buffer : survey.order()) {
      if (!survey.IsDeclared(buffer)) undeclared_[buffer->data].push_back(buffer);
    }
  }

 protected:
  const tir::Stmt* VisitAllocate(const tir::Allocate* stmt) override {
    const auto* visited = To<tir::Allocate>(tir::StmtExprMutator::VisitAllocate(stmt));
    const auto known = undeclared_.find(stmt->buffer_var);
    if (known == undeclared_.end()) return visited;
    const auto buffer =
        std::ranges::find_if(known->second, [&](const tir::Buffer* candidate) { return IsAllOf(*candidate, *stmt); });
    if (buffer == known->second.end()) return visited;
    auto* declared = workspace().New<tir::DeclBuffer>(*buffer, visited->body);
    declared->set_span(stmt->span());
    auto* result = workspace().New<tir::Allocate>(visited->buffer_var, visited->dtype, visited->extents,
                                                  visited->condition, visited->annotations, declared);
    result->set_span(stmt->span());
    return result;
  }

 private:
  std::unordered_map<const tir::Var*, std::vector<const tir::Buffer*>> undeclared_;
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
  for (const std::string_view key : {kIsHostFunc, kIsScheduledFunc}) {
    const Attr* flag = attrs->Find(key);
    if (flag && (key == kIsHostFunc || move.Up(kBooleanFlags))) attrs = attrs->With(key, MovedFlag(flag, move));
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
      !move.Crosses(kNumberedScopes))
    return func;
  const BufferSurvey survey(*func);
  const tir::Stmt* body = func->body;
  if (survey.HasSpellings()) body = MoveSpellings(move, workspace).VisitStmt(body);
  if (move.Up(kDeclaredBuffers)) {
    body = DeclareAllocations(survey, workspace).VisitStmt(body);
  } else if (move.Down(kDeclaredBuffers) && survey.HasDeclarations() && survey.IsFlat(*func)) {
    body = RemoveDeclarations(survey, workspace).VisitStmt(body);
  }
  return tir::WithBody(func, body, workspace);
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
    Workspace workspace(entry.storage);
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

}  // namespace iropt
