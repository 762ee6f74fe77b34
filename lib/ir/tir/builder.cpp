#include "iropt/ir/tir/builder.h"

#include <fmt/format.h>

#include "iropt/ir/tir/mutator.h"

namespace iropt::tir {

namespace {

const PrimExpr* MakeTrue(Workspace& workspace, Span span) {
  auto* value = workspace.New<IntImm>(DataType::Bool(), 1);
  value->set_span(span);
  return value;
}

}  // namespace

const Buffer* MakeBuffer(Workspace& workspace, const BufferSpec& spec, std::string_view name, Span span) {
  name = workspace.arena().CopyString(name);
  const Var* data = spec.data;
  if (!data) {
    // Truth values are stored as bytes.
    const DataType stored = spec.dtype == DataType::Bool() ? DataType::Int(8) : spec.dtype;
    auto* var =
        workspace.New<Var>(name, DataType::Handle(), workspace.NextVarId(), PointerInfo::Get(stored, spec.scope));
    var->set_span(span);
    data = var;
  }
  const DataType index = spec.shape.empty() ? DataType::Int(32) : spec.shape[0]->dtype;
  const PrimExpr* offset = spec.elem_offset;
  if (!offset) {
    PrimExpr* made = nullptr;
    if (spec.offset_factor != 0) {
      made = workspace.NewPrimVar("elem_offset", index);
    } else {
      made = workspace.New<IntImm>(index, 0);
    }
    made->set_span(span);
    offset = made;
  }
  auto* buffer = workspace.New<Buffer>(data, spec.dtype, workspace.NextVarId(), workspace.Copy(spec.shape),
                                       workspace.Copy(spec.strides), offset, workspace.Copy(spec.axis_separators), name,
                                       spec.align > 0 ? static_cast<int32_t>(spec.align) : kAllocAlignment,
                                       spec.offset_factor != 0 ? static_cast<int32_t>(spec.offset_factor) : 1,
                                       spec.auto_broadcast ? BufferType::kAutoBroadcast : BufferType::kDefault);
  buffer->layout = spec.layout;
  buffer->allocated_addr = workspace.Copy(spec.allocated_addr);
  buffer->set_span(span);
  return buffer;
}

// ---- Statements without a body

void StmtBuilder::Store(const Buffer* buffer, std::span<const PrimExpr* const> indices, const PrimExpr* value) {
  IROPT_CHECK(indices.size() == buffer->shape.size(), "{} indices for '{}'", indices.size(), buffer->name);
  Emit(workspace().New<BufferStore>(buffer, value, workspace().Copy(indices)));
}

const PrimExpr* StmtBuilder::Load(const Buffer* buffer, std::span<const PrimExpr* const> indices) {
  IROPT_CHECK(indices.size() == buffer->shape.size(), "{} indices for '{}'", indices.size(), buffer->name);
  return workspace().New<BufferLoad>(buffer->dtype, buffer, workspace().Copy(indices));
}

// ---- Statements with a body

LoopFrame StmtBuilder::For(std::string_view name, const PrimExpr* min, const PrimExpr* extent, ForKind kind,
                           const DictAttr* annotations) {
  const Var* var = workspace().NewPrimVar(name, extent->dtype);
  Open<tir::For>(Span(), var, min, extent, kind, nullptr, nullptr, annotations);
  return {Frame(*this, depth() - 1), {var}};
}

LoopFrame StmtBuilder::For(std::string_view name, const PrimExpr* extent, ForKind kind) {
  return For(name, workspace().New<IntImm>(extent->dtype, 0), extent, kind);
}

LoopFrame StmtBuilder::Grid(std::span<const std::string_view> names, std::span<const PrimExpr* const> extents) {
  IROPT_CHECK(names.size() == extents.size(), "{} names for {} loops", names.size(), extents.size());
  Frame frame(*this, depth());
  std::vector<const Var*> vars;
  for (size_t i = 0; i < names.size(); ++i) {
    vars.push_back(workspace().NewPrimVar(names[i], extents[i]->dtype));
    Open<tir::For>(Span(), vars[i], workspace().New<IntImm>(extents[i]->dtype, 0), extents[i], ForKind::kSerial,
                   nullptr, nullptr, DictAttr::Empty());
  }
  return {std::move(frame), std::move(vars)};
}

Frame StmtBuilder::If(const PrimExpr* condition) {
  OpenIf(condition);
  return Frame(*this, depth() - 1);
}

Frame StmtBuilder::Then() {
  OpenBranch(false);
  return Frame(*this, depth() - 1);
}

Frame StmtBuilder::Else() {
  OpenBranch(true);
  return Frame(*this, depth() - 1);
}

VarFrame StmtBuilder::Let(std::string_view name, const PrimExpr* value) {
  const Var* var = workspace().NewPrimVar(name, value->dtype);
  return {FrameOf<LetStmt>(var, value, nullptr), var};
}

VarFrame StmtBuilder::Allocate(std::string_view name, DataType dtype, std::span<const PrimExpr* const> extents,
                               std::string_view scope) {
  const Var* var = workspace().NewPrimVar(name, DataType::Handle(), PointerInfo::Get(dtype, scope));
  return {FrameOf<tir::Allocate>(var, dtype, workspace().Copy(extents), MakeTrue(workspace(), Span()),
                                 DictAttr::Empty(), nullptr),
          var};
}

Frame StmtBuilder::Attr(const Node* node, std::string_view key, const PrimExpr* value) {
  return FrameOf<AttrStmt>(node, workspace().arena().CopyString(key), value, nullptr);
}

Frame StmtBuilder::Assert(const PrimExpr* condition, std::string_view message) {
  return FrameOf<AssertStmt>(condition, workspace().New<StringImm>(workspace().arena().CopyString(message)), nullptr);
}

// ---- Blocks

Frame StmtBuilder::Block(std::string_view name) {
  OpenBlock(name, true);
  return Frame(*this, depth() - 1);
}

Frame StmtBuilder::Init() {
  IROPT_CHECK(block() && directly_inside() && !block()->init,
              "an initialization must be directly in its block, and once");
  OpenInit();
  return Frame(*this, depth() - 1);
}

BlockScope& StmtStack::CurrentBlock() {
  IROPT_CHECK(!blocks_.empty(), "outside of blocks");
  return blocks_.back();
}

const Var* StmtBuilder::Axis(IterVarType type, std::string_view name, const PrimExpr* extent, const PrimExpr* binding) {
  const auto* dom = workspace().New<Range>(workspace().New<IntImm>(extent->dtype, 0), extent);
  return Axis(type, name, dom, binding, extent->dtype);
}

Var* StmtStack::Axis(IterVarType type, std::string_view name, const Range* dom, const PrimExpr* binding, DataType dtype,
                     Span span) {
  Var* var = workspace_.NewPrimVar(name, dtype);
  var->set_span(span);
  auto* iter_var = workspace_.New<IterVar>(dom, var, type);
  iter_var->set_span(span);
  Axis(iter_var, binding);
  return var;
}

void StmtStack::Axis(const IterVar* iter_var, const PrimExpr* binding) {
  BlockScope& scope = CurrentBlock();
  scope.iter_vars.push_back(iter_var);
  if (binding) scope.iter_values.push_back(binding);
}

const Buffer* StmtBuilder::AllocBuffer(std::string_view name, const BufferSpec& spec) {
  const Buffer* buffer = MakeBuffer(workspace(), spec, name);
  AllocBuffer(buffer);
  return buffer;
}

void StmtStack::OpenBlock(std::string_view name, bool realize, Span span) {
  Push(OpenKind::kBlock);
  BlockScope& scope = blocks_.emplace_back();
  scope.name = workspace_.arena().CopyString(name);
  scope.span = span;
  scope.realize = realize;
  constexpr size_t kUsualAxes = 8;
  scope.iter_vars.reserve(kUsualAxes);
  scope.iter_values.reserve(kUsualAxes);
}

// ---- Closing

void StmtStack::OpenIf(const PrimExpr* condition, Span span) {
  Push(OpenKind::kIf);
  conditionals_.push_back({condition, nullptr, nullptr, span});
}

std::optional<StmtStack::Branches> StmtStack::open_if() const {
  if (open_.empty() || open_.back().kind != OpenKind::kIf) return std::nullopt;
  const Conditional& c = conditionals_.back();
  return Branches{c.then_case != nullptr, c.else_case != nullptr, c.span};
}

// The statements since `start` as one statement; T.evaluate(0) if there are none.
const Stmt* StmtStack::TakeStatements(size_t start) {
  const std::span<const Stmt* const> all = std::span<const Stmt* const>(stmts_).subspan(start);
  const Stmt* result = all.empty() ? workspace_.New<tir::Evaluate>(workspace_.New<IntImm>(DataType::Int(32), 0))
                                   : MakeSeq(workspace_, all);
  stmts_.resize(start);
  return result;
}

const Stmt* StmtStack::TakeBody() {
  IROPT_CHECK(!open_.empty() && open_.back().kind == OpenKind::kFree, "no free statements are open");
  const size_t start = open_.back().start;
  open_.pop_back();
  return TakeStatements(start);
}

bool StmtStack::Enclose(const Stmt* node, const Stmt* outer) {
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    if (open->node != node) continue;
    open->node = outer;
    return true;
  }
  return false;
}

void StmtStack::CloseTo(size_t depth) {
  while (open_.size() > depth) Close();
}

void StmtStack::Close() {
  const OpenStmt open = open_.back();
  open_.pop_back();
  if (open.kind == OpenKind::kIf) return CloseIf(open.start);
  const Stmt* body = TakeStatements(open.start);
  switch (open.kind) {
    case OpenKind::kBody: *open.body = body; return Emit(open.node);
    case OpenKind::kBlock: return CloseBlock(body);
    case OpenKind::kInit: block()->init = body; return;
    case OpenKind::kThen: conditionals_.back().then_case = body; return;
    case OpenKind::kElse: conditionals_.back().else_case = body; return;
    case OpenKind::kIf:
    case OpenKind::kFree: return Emit(body);
  }
}

void StmtStack::CloseIf(size_t start) {
  const Conditional c = conditionals_.back();
  conditionals_.pop_back();
  stmts_.resize(start);
  IROPT_CHECK(c.then_case, "an If without Then");
  auto* stmt = workspace_.New<IfThenElse>(c.condition, c.then_case, c.else_case);
  stmt->set_span(c.span);
  Emit(stmt);
}

void StmtStack::CloseBlock(const Stmt* body) {
  const BlockScope scope = std::move(blocks_.back());
  blocks_.pop_back();
  List<const BufferRegion*> reads, writes;
  if (scope.reads) reads = workspace_.Copy(*scope.reads);
  if (scope.writes) writes = workspace_.Copy(*scope.writes);
  auto* block = workspace_.New<tir::Block>(workspace_.Copy(scope.iter_vars), reads, writes, scope.name,
                                           workspace_.Copy(scope.allocs), workspace_.Copy(scope.matches),
                                           scope.annotations ? scope.annotations : DictAttr::Empty(), scope.init, body);
  block->set_span(scope.span);
  if (!scope.reads || !scope.writes) incomplete_.push_back({block, !scope.reads, !scope.writes});
  if (!scope.realize) return Emit(block);
  has_blocks_ = true;
  auto* realize = workspace_.New<BlockRealize>(
      workspace_.Copy(scope.iter_values), scope.predicate ? scope.predicate : MakeTrue(workspace_, scope.span), block);
  realize->set_span(scope.span);
  Emit(realize);
}

void StmtStack::Rollback(const Mark& mark) {
  const auto shrink = [](auto& items, size_t size) {
    while (items.size() > size) items.pop_back();
  };
  shrink(stmts_, mark.stmts);
  shrink(open_, mark.open);
  shrink(blocks_, mark.blocks);
  shrink(conditionals_, mark.conditionals);
}

const Stmt* StmtStack::Finish() {
  CloseTo(0);
  const Stmt* body = TakeStatements(0);
  const auto* top = As<BlockRealize>(body);
  const bool has_root = top ? top->block->iter_vars.empty() : !has_blocks_;
  if (has_root && root_allocs_.empty()) return body;
  auto* root = workspace_.New<tir::Block>(List<const IterVar*>(), List<const BufferRegion*>(),
                                          List<const BufferRegion*>(), "root", workspace_.Copy(root_allocs_),
                                          List<const MatchBufferRegion*>(), DictAttr::Empty(), nullptr, body);
  root->set_span(body->span());
  auto* realize = workspace_.New<BlockRealize>(List<const PrimExpr*>(), MakeTrue(workspace_, body->span()), root);
  realize->set_span(body->span());
  return realize;
}

// ---- Functions

const Var* FuncBuilder::Param(std::string_view name, DataType dtype) {
  AddParam(workspace().NewPrimVar(name, dtype));
  return params_.back();
}

void FuncBuilder::AddParam(const Var* var, const Buffer* buffer) {
  params_.push_back(var);
  param_buffers_.push_back(buffer);
}

const Buffer* FuncBuilder::BufferParam(std::string_view name, const BufferSpec& spec) {
  Param(fmt::format("{}_handle", name), DataType::Handle());
  param_buffers_.back() = MakeBuffer(workspace(), spec, name);
  return param_buffers_.back();
}

}  // namespace iropt::tir
