#include "buffer_moves.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt::text {
namespace {

// B for B_1_2.
std::string_view WithoutNumbers(std::string_view name) {
  for (size_t end = name.size();;) {
    while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1]))) --end;
    if (end == name.size() || end < 2 || name[end - 1] != '_') return name;
    name = name.substr(0, --end);
  }
}

// Finds the buffers that a PrimFunc accesses and declares.
class BufferSurvey : public tir::StmtExprVisitor {
 public:
  explicit BufferSurvey(const PrimFunc& func) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) memory_.insert(buffer->data);
    }
    VisitStmt(func.body);
  }

  // Returns whether the buffer is declared on memory that another buffer, or an allocation, has. Others need their
  // declarations where nothing accesses them.
  bool IsRemovable(const tir::Buffer* buffer) const {
    return aliases_.contains(buffer) && (IsAccessed(buffer) || allocated_.contains(buffer->data));
  }

  bool IsAccessed(const tir::Buffer* buffer) const { return accessed_.contains(buffer); }
  bool IsDeclared(const tir::Buffer* buffer) const { return declared_.contains(buffer); }
  // Returns whether a buffer, declared or not, is on the memory.
  bool HasBuffer(const tir::Var* memory) const { return used_.contains(memory); }
  // Returns whether no other buffer that the function accesses, declares or allocates has its name, but for numbers.
  bool HasOwnName(const tir::Buffer* buffer) const { return names_.at(WithoutNumbers(buffer->name)) == 1; }
  bool HasDeclarations() const { return !declared_.empty(); }
  const std::vector<const tir::Buffer*>& order() const { return order_; }

  // Returns whether the function is as FlattenBuffer leaves it: no blocks, all indices are single ones, and buffers of
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
    ++names_[WithoutNumbers(stmt->buffer_var->name)];
    tir::StmtExprVisitor::VisitAllocate(stmt);
  }
  void VisitDeclBuffer(const tir::DeclBuffer* stmt) override {
    if (declared_.insert(stmt->buffer) && !IsAccessed(stmt->buffer)) ++names_[WithoutNumbers(stmt->buffer->name)];
    used_.insert(stmt->buffer->data);
    if (memory_.insert(stmt->buffer->data)) {
      roots_.push_back(stmt->buffer);
    } else {
      aliases_.insert(stmt->buffer);
      num_views_ += !allocated_.contains(stmt->buffer->data);
    }
    tir::StmtExprVisitor::VisitDeclBuffer(stmt);
  }
  void VisitBlock(const tir::Block* block) override {
    flat_ = false;
    tir::StmtExprVisitor::VisitBlock(block);
  }

 private:
  void Access(const tir::Buffer* buffer, uint32_t ndim) {
    flat_ = flat_ && ndim <= 1;
    used_.insert(buffer->data);
    if (!accessed_.insert(buffer)) return;
    order_.push_back(buffer);
    if (!IsDeclared(buffer)) ++names_[WithoutNumbers(buffer->name)];
  }

  LookupSet<const tir::Var*> memory_, allocated_, used_;
  LookupSet<const tir::Buffer*> accessed_, declared_, aliases_;
  LookupMap<std::string_view, size_t> names_;  // without numbers, and how many have them
  std::vector<const tir::Buffer*> roots_;      // the first ones on pointers that are parameters, or defined
  std::vector<const tir::Buffer*> order_;      // of the first accesses
  size_t num_views_ = 0;                       // aliases of other buffers
  bool flat_ = true;
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
         DeepEqual(buffer.shape, allocate.extents);
}

// Declares right after each allocation the buffer that is all of it: one that is accessed without a declaration, or
// where there are only parts, or views, a new one, of which they are views.
class DeclareAllocations : public tir::StmtExprMutator {
 public:
  // In the form of the newer text, the buffer of an allocation need not be all of it.
  DeclareAllocations(const BufferSurvey& survey, bool is_newer, Workspace& workspace)
      : tir::StmtExprMutator(workspace), survey_(survey), is_newer_(is_newer) {
    for (const tir::Buffer* buffer : survey.order()) {
      if (!survey.IsDeclared(buffer)) undeclared_[buffer->data].push_back(buffer);
    }
  }

 protected:
  const tir::Stmt* VisitAllocate(const tir::Allocate* stmt) override {
    const auto* visited = To<tir::Allocate>(tir::StmtExprMutator::VisitAllocate(stmt));
    const auto* first = As<tir::DeclBuffer>(visited->body);
    if (first && first->buffer->data == stmt->buffer_var && (is_newer_ || IsAllOf(*first->buffer, *stmt)))
      return visited;
    const tir::Buffer* buffer = BufferOf(*stmt);
    if (!buffer) return visited;
    auto* declared = workspace().New<tir::DeclBuffer>(buffer, visited->body);
    declared->set_span(stmt->span());
    auto* result = workspace().New<tir::Allocate>(visited->buffer_var, visited->dtype, visited->extents,
                                                  visited->condition, visited->annotations, declared);
    result->set_span(stmt->span());
    return result;
  }

 private:
  const tir::Buffer* BufferOf(const tir::Allocate& allocate) {
    if (const auto* known = undeclared_.Find(allocate.buffer_var)) {
      const auto is_all = [&](const tir::Buffer* candidate) { return IsAllOf(*candidate, allocate); };
      const auto buffer = std::ranges::find_if(*known, is_all);
      if (buffer != known->end()) return *buffer;
    }
    if (!survey_.HasBuffer(allocate.buffer_var)) return nullptr;
    const tir::BufferSpec spec{.shape = {allocate.extents.begin(), allocate.extents.end()},
                               .dtype = allocate.dtype,
                               .data = allocate.buffer_var};
    return tir::MakeBuffer(workspace(), spec, allocate.buffer_var->name, allocate.span());
  }

  const BufferSurvey& survey_;
  const bool is_newer_;
  LookupMap<const tir::Var*, std::vector<const tir::Buffer*>> undeclared_;
};

// The variables that a function has from its parameters.
LookupSet<const tir::Var*> VarsOfParams(const PrimFunc& func) {
  LookupSet<const tir::Var*> vars(func.params.begin(), func.params.end());
  const auto add = [&](const PrimExpr* e) {
    tir::UsesVar(e, [&](const tir::Var* var) { return vars.insert(var), false; });
  };
  for (const tir::Buffer* buffer : func.param_buffers) {
    if (!buffer) continue;
    std::ranges::for_each(buffer->shape, add);
    std::ranges::for_each(buffer->strides, add);
    add(buffer->elem_offset);
  }
  return vars;
}

// The undeclared buffers on the memory of parameters, in the order of these. Not buffers of one name but
// for numbers: the printer numbers them in the order of their declarations.
std::vector<const tir::Buffer*> ViewsOfParams(const PrimFunc& func, const BufferSurvey& survey) {
  const LookupSet<const tir::Var*> vars = VarsOfParams(func);
  const auto is_known = [&](const PrimExpr* e) {
    return !tir::UsesVar(e, [&](const tir::Var* var) { return !vars.contains(var); });
  };
  std::vector<const tir::Buffer*> views;
  for (const tir::Buffer* param : func.param_buffers) {
    if (!param) continue;
    for (const tir::Buffer* buffer : survey.order()) {
      if (buffer != param && buffer->data == param->data && !survey.IsDeclared(buffer) && survey.HasOwnName(buffer) &&
          std::ranges::all_of(buffer->shape, is_known) && std::ranges::all_of(buffer->strides, is_known) &&
          is_known(buffer->elem_offset))
        views.push_back(buffer);
    }
  }
  return views;
}

const PrimFunc* Declare(const PrimFunc* func, bool is_newer, Workspace& workspace) {
  const BufferSurvey survey(*func);
  const tir::Stmt* body = DeclareAllocations(survey, is_newer, workspace).VisitStmt(func->body);
  // FlattenBuffer leaves no blocks, and nothing comes before the root block.
  const auto views =
      Is<tir::BlockRealize>(func->body) ? std::vector<const tir::Buffer*>() : ViewsOfParams(*func, survey);
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    auto* declared = workspace.New<tir::DeclBuffer>(*view, body);
    declared->set_span((*view)->span());
    body = declared;
  }
  return tir::WithBody(func, body, workspace);
}

}  // namespace

const PrimFunc* WithDeclarations(const PrimFunc* func, Workspace& workspace) {
  return Declare(func, /*is_newer=*/false, workspace);
}

const PrimFunc* WithMissingDeclarations(const PrimFunc* func, Workspace& workspace) {
  return Declare(func, /*is_newer=*/true, workspace);
}

const PrimFunc* WithoutDeclarations(const PrimFunc* func, Workspace& workspace) {
  const BufferSurvey survey(*func);
  const bool is_from_te = func->attrs->Find(attr::kFromLegacyTESchedule) != nullptr;
  if (!survey.HasDeclarations() || (!is_from_te && !survey.IsFlat(*func))) return func;
  return tir::WithBody(func, RemoveDeclarations(survey, workspace).VisitStmt(func->body), workspace);
}

}  // namespace iropt::text
