// tir.InjectDoubleBuffer: fills memory for the next iteration of a loop while the current one uses it.
//
//   for i in range(8):                                     B = T.allocate([8], "float32", "shared")
//       B = T.allocate([4], "float32", "shared")           for j in range(4): B_1[j] = A[j]
//       B_1 = T.Buffer((4,), data=B)                       for i in range(7):
//       with T.attr(B, "double_buffer_scope", 1):     -->      if i + 1 < 8:
//           for j in range(4):                                     for j in range(4):
//               B_1[j] = A[i * 4 + j]                                  B_1[(i + 1) % 2 * 4 + j] = A[(i + 1) * 4 + j]
//       for j in range(4):                                     for j in range(4):
//           C[i * 4 + j] = B_1[j]                                  C[i * 4 + j] = B_1[i % 2 * 4 + j]
//                                                          ...                                        # i = 7
//
// The memory must be flat, see tir.FlattenBuffer, and its pointer must not be passed on. Loops with T.break_loop or
// T.continue_loop keep their memory. The last iterations are apart,
// so that nothing is filled in vain: the configuration tir.InjectDoubleBuffer.split_loop says how many iterations the
// loop makes at once. O(nodes), plus the copies of the loop.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "configs/tir.InjectDoubleBuffer.h"
#include "iropt/analysis/tir/loop_jumps.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/copy_stmt.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// The pointers of memory to double: those of scopes whose pointers are not passed on, in loops that do not end early.
class ScopeFinder : public tir::StmtExprVisitor {
 public:
  static LookupSet<const tir::Var*> Find(const tir::Stmt* body) {
    ScopeFinder finder;
    finder.VisitStmt(body);
    return std::move(finder.found_);
  }

 protected:
  using StmtExprVisitor::VisitExpr;

  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* pointer = stmt->attr_key == attr::kDoubleBufferScope ? As<tir::Var>(stmt->node) : nullptr;
    if (pointer && !(loop_ && HasLoopJumps(loop_->body))) found_.insert(pointer);
    VisitExpr(stmt->value);
    VisitStmt(stmt->body);
  }
  void VisitFor(const tir::For* loop) override {
    const tir::For* outer = std::exchange(loop_, loop);
    StmtExprVisitor::VisitFor(loop);
    loop_ = outer;
  }
  void VisitVar(const tir::Var* var) override { found_.erase(var); }

 private:
  const tir::For* loop_ = nullptr;  // the innermost one
  LookupSet<const tir::Var*> found_;
};

// The mark of the writes for the next iteration only counts in the new loop.
class MarkStripper : public tir::StmtExprMutator {
 public:
  explicit MarkStripper(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    return stmt->attr_key == attr::kDoubleBufferWrite ? VisitStmt(stmt->body) : StmtExprMutator::VisitAttrStmt(stmt);
  }
};

class DoubleBufferInjector : public tir::StmtExprMutator {
 public:
  DoubleBufferInjector(LookupSet<const tir::Var*> pointers, int64_t split, Workspace& workspace,
                       DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace, tir::kRewriteBuffers),
        diagnostics_(diagnostics),
        make_(workspace),
        split_(split),
        copier_(workspace),
        pointers_(std::move(pointers)) {}

 protected:
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return Double(buffer); }
  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return Double(buffer); }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (stmt->attr_key != attr::kDoubleBufferScope) return StmtExprMutator::VisitAttrStmt(stmt);
    const auto* pointer = As<tir::Var>(stmt->node);
    return pointer && pointers_.contains(pointer) ? Produce(pointer, *stmt) : VisitStmt(stmt->body);
  }

  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    if (!pointers_.contains(allocate->buffer_var)) return StmtExprMutator::VisitAllocate(allocate);
    if (allocate->extents.size() != 1) {
      Error(*allocate,
            fmt::format("the memory '{}' must be flat: run tir.FlattenBuffer first", allocate->buffer_var->name));
      return allocate;
    }
    Memory& memory = memories_[allocate->buffer_var];
    memory.size = allocate->extents[0];
    const tir::Stmt* body = VisitStmt(allocate->body);
    if (!memory.loop) {
      Error(*allocate, fmt::format("nothing fills the memory '{}' in a loop", allocate->buffer_var->name));
      return allocate;
    }
    tir::Allocate copy = *allocate;
    const std::vector<const PrimExpr*> extents = {make_.Mul(memory.size, make_.Const(2, memory.size->dtype))};
    copy.extents = workspace().Copy(extents);
    Outside& outside = outside_[memory.loop];
    outside.allocations.push_back(workspace().New<tir::Allocate>(copy));
    if (const auto* decl = As<tir::DeclBuffer>(body)) {
      outside.allocations.push_back(decl);
      return decl->body;
    }
    return body;
  }

  const tir::Stmt* VisitFor(const tir::For* loop) override {
    loops_.push_back(loop);
    const tir::Stmt* visited = StmtExprMutator::VisitFor(loop);
    loops_.pop_back();
    const auto* found = outside_.Find(loop);
    if (!found) return visited;
    std::vector<const tir::Stmt*> stmts = found->before;
    stmts.push_back(split_ == 0 ? visited : Split(*To<tir::For>(visited)));
    const tir::Stmt* result = MakeFlatSeq(workspace(), stmts);
    const std::vector<const tir::Stmt*>& allocations = found->allocations;
    for (auto it = allocations.rbegin(); it != allocations.rend(); ++it) {
      if (const auto* allocate = As<tir::Allocate>(*it)) {
        tir::Allocate copy = *allocate;
        copy.body = result;
        result = workspace().New<tir::Allocate>(copy);
      } else {
        result = workspace().New<tir::DeclBuffer>(To<tir::DeclBuffer>(*it)->buffer, result);
      }
    }
    return result;
  }

  const tir::Stmt* VisitBufferStore(const tir::BufferStore* store) override {
    const tir::Stmt* visited = StmtExprMutator::VisitBufferStore(store);
    const auto* memory = memories_.Find(store->buffer->data);
    if (!memory) return visited;
    tir::BufferStore copy = *To<tir::BufferStore>(visited);
    copy.indices = Switch(copy.indices, *memory, memory->write_half, *store);
    return workspace().New<tir::BufferStore>(copy);
  }
  const PrimExpr* VisitBufferLoad(const tir::BufferLoad* load) override {
    const PrimExpr* visited = StmtExprMutator::VisitBufferLoad(load);
    const auto* memory = memories_.Find(load->buffer->data);
    if (!memory) return visited;
    tir::BufferLoad copy = *To<tir::BufferLoad>(visited);
    copy.flags = 0;
    copy.indices = Switch(copy.indices, *memory, memory->read_half, *load);
    return workspace().New<tir::BufferLoad>(copy);
  }

 private:
  struct Memory {
    const PrimExpr* size = nullptr;        // of one half
    const tir::For* loop = nullptr;        // in which it is filled
    const PrimExpr* write_half = nullptr;  // null outside of the scope that fills it
    const PrimExpr* read_half = nullptr;
  };
  // Statements that go around and before a loop.
  struct Outside {
    std::vector<const tir::Stmt*> allocations;  // and declarations, without bodies
    std::vector<const tir::Stmt*> before;
  };

  void Error(const Node& at, const std::string& message) { diagnostics_.Error(Location(at), "pass-failed", message); }

  // The scope that fills the memory: for the first iteration before the loop, in the loop for the next one.
  const tir::Stmt* Produce(const tir::Var* pointer, const tir::AttrStmt& scope) {
    Memory* found = memories_.Find(pointer);
    if (loops_.empty() || !found) {
      Error(scope, fmt::format("the memory '{}' must be allocated and filled in a loop", pointer->name));
      return scope.body;
    }
    Memory& memory = *found;
    memory.loop = loops_.back();
    const tir::Var* var = memory.loop->loop_var;
    const PrimExpr* zero = make_.Const(0, var->dtype);
    const PrimExpr* next = make_.Add(var, make_.Const(1, var->dtype));
    const PrimExpr* two = make_.Const(2, var->dtype);
    const tir::Var* half =
        workspace().NewPrimVar(workspace().arena().CopyString(fmt::format("{}.db", var->name)), var->dtype);
    memory.read_half = make_.FloorMod(var, two);
    memory.write_half = half;
    const tir::Stmt* body = VisitStmt(scope.body);
    memory.write_half = nullptr;
    outside_[memory.loop].before.push_back(copier_.Copy(body, {{half, zero}, {var, zero}}, OwnDefinitions::kKeep));
    body = copier_.Copy(body, {{half, make_.FloorMod(next, two)}, {var, next}}, OwnDefinitions::kRenew);
    body = workspace().New<tir::AttrStmt>(pointer, attr::kDoubleBufferWrite, make_.Int(1, DataType::Int(32)), body);
    const PrimExpr* has_next = make_.Binary(NodeKind::kLT, next, memory.loop->extent);
    return workspace().New<tir::IfThenElse>(has_next, body, nullptr);
  }

  // A loop of split_ iterations at once, and the last ones, of which the very last one fills nothing.
  const tir::Stmt* Split(const tir::For& loop) {
    const DataType dtype = loop.loop_var->dtype;
    if (!arith::IsInt(loop.min, 0) || loop.step) {
      Error(loop, "a loop with double buffers must run from 0 in steps of 1");
      return &loop;
    }
    const PrimExpr* factor = make_.Const(split_, dtype);
    const PrimExpr* outer_extent = make_.TruncDiv(make_.Sub(loop.extent, make_.Const(1, dtype)), factor);
    const PrimExpr* tail_begin = make_.Mul(outer_extent, factor);
    const tir::Var* outer =
        workspace().NewPrimVar(workspace().arena().CopyString(fmt::format("{}.outer", loop.loop_var->name)), dtype);
    std::vector<const tir::Stmt*> body;
    for (int64_t i = 0; i < split_; ++i) {
      const PrimExpr* value = make_.Add(make_.Mul(outer, factor), make_.Const(i, dtype));
      body.push_back(
          copier_.Copy(loop.body, {{loop.loop_var, value}}, i == 0 ? OwnDefinitions::kKeep : OwnDefinitions::kRenew));
    }
    std::vector<const tir::Stmt*> result = {workspace().New<tir::For>(
        outer, loop.min, outer_extent, loop.for_kind, MakeFlatSeq(workspace(), body), nullptr, DictAttr::Empty())};
    MarkStripper stripper(workspace());
    const tir::Stmt* tail = stripper.VisitStmt(loop.body);
    for (int64_t i = 0; i < split_; ++i) {
      const PrimExpr* value = make_.Add(tail_begin, make_.Const(i, dtype));
      const PrimExpr* is_in_loop = make_.Binary(NodeKind::kLT, value, loop.extent);
      const tir::Stmt* copy = copier_.Copy(tail, {{loop.loop_var, value}}, OwnDefinitions::kRenew);
      result.push_back(workspace().New<tir::IfThenElse>(is_in_loop, copy, nullptr));
    }
    return MakeFlatSeq(workspace(), result);
  }

  List<const PrimExpr*> Switch(List<const PrimExpr*> indices, const Memory& memory, const PrimExpr* half,
                               const Node& at) {
    if (indices.size() != 1 || !half) {
      Error(at, "double-buffered memory must be flat, filled in its scope, and used after it");
      return indices;
    }
    const std::vector<const PrimExpr*> switched = {make_.Add(make_.Mul(half, memory.size), indices[0])};
    return workspace().Copy(switched);
  }

  const tir::Buffer* Double(const tir::Buffer* buffer) {
    const auto* memory = memories_.Find(buffer->data);
    if (!memory || buffer->shape.size() != 1) return RewriteBuffer(buffer);
    if (const tir::Buffer* known = RemapOf(buffer)) return known;
    tir::Buffer copy = *buffer;
    const std::vector<const PrimExpr*> shape = {make_.Add(buffer->shape[0], memory->size)};
    copy.shape = workspace().Copy(shape);
    copy.id = workspace().NextVarId();
    const auto* doubled = workspace().New<tir::Buffer>(copy);
    Remap(buffer, doubled);
    return doubled;
  }

  DiagnosticEngine& diagnostics_;
  const arith::PrimBuilder make_;
  const int64_t split_;
  StmtCopier copier_;
  const LookupSet<const tir::Var*> pointers_;
  std::vector<const tir::For*> loops_;
  LookupMap<const tir::Var*, Memory> memories_;
  LookupMap<const tir::For*, Outside> outside_;
};

Result<const PrimFunc*> InjectDoubleBuffers(const PrimFunc* func, FunctionPassContext& context) {
  const int64_t split = config::tir::InjectDoubleBuffer(context.context()).split_loop;
  if (split < 0 || (split > 1 && split % 2 != 0))
    return Error{ErrorCode::PassFailed, "tir.InjectDoubleBuffer.split_loop must be 0, 1 or even"};
  LookupSet<const tir::Var*> pointers = ScopeFinder::Find(func->body);
  if (pointers.empty()) return func;
  DoubleBufferInjector injector(std::move(pointers), split, context.workspace(), context.diagnostics());
  return WithBody(func, injector.VisitStmt(func->body), context.workspace());
}

}  // namespace

Pass CreateInjectDoubleBuffer(const PassOptions& options) {
  return CreatePrimFuncPass(options.info(), InjectDoubleBuffers);
}

}  // namespace iropt
