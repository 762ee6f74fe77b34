#include "printer.h"

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/visitor.h"
#include "layout_printer.h"
#include "simple_buffer.h"
#include "text/script/attr_text.h"
#include "text/script/func_attrs.h"

namespace iropt::text {
namespace {

// Counts how often a function refers to its parameters.
class ParamUses : public tir::StmtExprVisitor {
 public:
  explicit ParamUses(const PrimFunc* func) : uses_(func->params.size()) {
    for (uint32_t i = 0; i < func->params.size(); ++i) {
      const uint32_t id = func->params[i]->id;
      if (id >= index_.size()) index_.resize(id + 1, -1);
      index_[id] = static_cast<int>(i);
    }
    VisitStmt(func->body);
    for (const tir::Buffer* buffer : func->param_buffers) {
      if (buffer) VisitBufferUse(buffer);
    }
  }
  const std::vector<int>& uses() const { return uses_; }

 protected:
  using tir::StmtExprVisitor::VisitExpr;
  void VisitVar(const tir::Var* var) override {
    if (!var->context_owned() && var->id < index_.size() && index_[var->id] >= 0)
      ++uses_[static_cast<size_t>(index_[var->id])];
  }
  void VisitBufferUse(const tir::Buffer* buffer) override { VisitVar(buffer->data); }
  void VisitBufferDef(const tir::Buffer* buffer) override {
    VisitVar(buffer->data);
    tir::StmtExprVisitor::VisitBufferDef(buffer);
  }

 private:
  std::vector<int> index_;  // by id of the variable
  std::vector<int> uses_;
};

bool ContainsBlock(const tir::Stmt* stmt) {
  bool found = false;
  tir::PostOrderVisit(stmt, [&](const Node* n) { found |= n->kind == NodeKind::kBlockRealize; });
  return found;
}

}  // namespace

void PrintPrimFunc(const PrimFunc* func, std::string_view name, const ScalarArgs& scalars, PrintContext& context) {
  context.out.Append(TirPrinter(func, context).Print(name, scalars));
}

std::string TirPrinter::Print(std::string_view name, const ScalarArgs& scalars) {
  PrintDecorator();
  {
    const auto placed = context_.Placed(func_);
    context_.NewLine();
  }
  out_.Append("def ");
  out_.Append(name);
  ++context_.indent;
  Push(func_);
  const bool typed = context_.Since(TextVersion::kV0_26);
  typed ? PrintTypedParams(scalars) : PrintParams();
  for (const std::string& line : param_lines_) {
    BeginLine();
    out_.Append(line);
  }
  PrintFuncAttrs(name);
  if (!typed) PrintMatchedParams();
  if (const tir::Block* root = ImplicitRoot()) {
    BeginLine();
    out_.Append("# with ");
    PrintMarked(root,
                [&] { out_.Append(context_.Since(TextVersion::kV0_24) ? "T.sblock(\"root\")" : "T.block(\"root\")"); });
    out_.Append(':');
    for (const tir::Buffer* buffer : root->alloc_buffers) PrintBlockBuffer(buffer);
    PrintBody(root->body);
  } else {
    PrintBody(func_->body);
  }
  Pop();
  --context_.indent;
  context_.EndLine();
  out_.Append('\n');
  return Assemble();
}

std::string TirStmtPrinter::PrintStatement(const tir::Stmt* stmt) {
  Push(func_);
  top().concise = true;
  PrintStmt(stmt);
  Pop();
  static_cast<void>(stream_.Flush());  // to a string, which cannot fail
  return text_.substr(std::min(text_.find_first_not_of('\n'), text_.size()));
}

// ---- Header

// @T.prim_func(private=True, s_tir=True)
void TirPrinter::PrintDecorator() {
  out_.Append("@T.prim_func");
  bool first = true;
  const auto flag = [&](std::string_view name) {
    out_.Append(first ? "(" : ", ");
    first = false;
    out_.Append(name);
    out_.Append("=True");
  };
  if (!func_->attrs->Find(attr::kGlobalSymbol)) flag("private");
  if (context_.Since(TextVersion::kV0_25)) {
    if (IsSTir(*func_)) flag("s_tir");
    if (func_->attrs->Find(attr::kPersistentKernel)) flag("persistent");
  }
  if (!first) out_.Append(')');
}

std::vector<bool> TirPrinter::InlineParams() const {
  const List<const tir::Buffer*> buffers = func_->param_buffers;
  std::vector<bool> result(func_->params.size());
  if (std::none_of(buffers.begin(), buffers.end(), [](const tir::Buffer* b) { return b && IsSimple(b); }))
    return result;
  const ParamUses uses(func_);
  InlineVector<const tir::Var*, 16> pointers;
  for (const tir::Buffer* b : buffers) {
    if (b) pointers.push_back(b->data);
  }
  std::ranges::sort(pointers);
  const auto is_shared = [&](const tir::Var* data) {
    const auto [first, last] = std::equal_range(pointers.begin(), pointers.end(), data);
    return last - first > 1;
  };
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = buffers[i] && IsSimple(buffers[i]) && !StatesLayout(*func_, *buffers[i], context_.version) &&
                uses.uses()[i] == 0 && !is_shared(buffers[i]->data);
  }
  return result;
}

void TirPrinter::PrintParams() {
  inline_params_ = InlineParams();
  out_.Append('(');
  for (size_t i = 0; i < func_->params.size(); ++i) {
    if (i) out_.Append(", ");
    if (!inline_params_[i]) {
      out_.Append(names_.Define(func_->params[i]));
      out_.Append(": ");
      const tir::Var* param = func_->params[i];
      param->is_size_var() ? prim_.PrintVarCreation(param) : prim_.PrintVarType(param);
      continue;
    }
    const tir::Buffer* buffer = func_->param_buffers[i];
    const std::string_view name = NameBuffer(buffer);
    out_.Append(name);
    out_.Append(": T.Buffer(");
    prim_.PrintTuple(buffer->shape);
    out_.Append(", ");
    prim_.PrintDType(buffer->dtype);
    if (!HasDefaultOffset(*buffer)) {
      out_.Append(", elem_offset=");
      prim_.Print(buffer->elem_offset);
    }
    out_.Append(')');
    NameParts(buffer, name, Plan(buffer, Introduces::kData, 0), 0);
  }
  out_.Append(')');
  if (const auto* ret = As<PrimType>(func_->ret_type)) {
    out_.Append(" -> ");
    prim_.PrintDTypeName(ret->dtype);
  }
  out_.Append(':');
}

// A global symbol that is the name of the function is not printed.
void TirPrinter::PrintFuncAttrs(std::string_view name) {
  const DictAttr* attrs = func_->attrs;
  const auto* symbol = As<StrAttr>(attrs->Find(attr::kGlobalSymbol));
  if (symbol && symbol->value == name) attrs = attrs->Without(attr::kGlobalSymbol);
  // The decorator says these; older versions have one kind of PrimFuncs.
  attrs = attrs->Without(attr::kSTir);
  if (context_.Since(TextVersion::kV0_25)) attrs = attrs->Without(attr::kPersistentKernel);
  if (attrs->size() == 0) return;
  attrs = FuncAttrsOfVersion(attrs, context_.version);
  BeginLine();
  out_.Append("T.func_attr(");
  PrintAttr(attrs, context_, ScriptDialect::kTir, this);
  out_.Append(')');
}

void TirPrinter::PrintMatchedParams() {
  for (size_t i = 0; i < func_->params.size(); ++i) {
    const tir::Buffer* buffer = func_->param_buffers[i];
    if (!buffer || inline_params_[i]) continue;
    const auto param = [&] {
      prim_.PrintVar(func_->params[i]);
      out_.Append(", ");
    };
    PrintBufferLine(buffer, "match_buffer", Introduces::kAll, param, [] {});
  }
}

// The implicit root block: it is printed as a comment.
const tir::Block* TirPrinter::ImplicitRoot() const {
  const auto* realize = As<tir::BlockRealize>(func_->body);
  if (!realize || !realize->iter_values.empty() || !arith::IsInt(realize->predicate, 1)) return nullptr;
  const tir::Block* root = realize->block;
  const bool says = root->annotations->size() || !root->match_buffers.empty() || !root->reads.empty() ||
                    !root->writes.empty() || root->init;
  if (says) return nullptr;
  const auto* inner = As<tir::BlockRealize>(root->body);
  const bool needed =
      !root->alloc_buffers.empty() || (inner ? !inner->block->iter_vars.empty() : ContainsBlock(root->body));
  return needed ? root : nullptr;
}

}  // namespace iropt::text
