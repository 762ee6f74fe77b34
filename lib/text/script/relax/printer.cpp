#include "printer.h"

#include "iropt/infer/infer.h"
#include "iropt/ir/prefetched_range.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/support/stack.h"
#include "text/script/attr_text.h"
#include "text/script/func_attrs.h"
#include "text/script/printer_type_vars.h"
#include "void_type.h"

namespace iropt::text {

namespace {

// Where a value is computed. The place of a variable is that of its definition; what is assigned it has its own.
const Node* PlaceOf(const Expr* value, const Var* target) { return Is<Var>(value) ? target : value; }

}  // namespace

void RelaxPrinter::PrintFunction(const Function* function, std::string_view name, const RelaxPrologue& prologue,
                                 PrefixUse before) {
  prologue_ = &prologue;
  before_ = before;
  nested_ = 0;
  names_.Reset();
  names_.Reserve(prologue.num_bindings);
  types_.StartFunction();
  for (const tir::Var* var : prologue.scalar_params) names_.Define(var);
  DefineSignatureVars(prologue.type_vars());
  const bool is_private = !function->attrs->Find(attr::kGlobalSymbol);
  PrintHeader(function, name, is_private, &prologue.introduced);
  type_params_.clear();
  if (!context_.Since(TextVersion::kV0_27)) {
    for (const tir::Var* var : prologue.type_vars()) PrintPrologueLine(var);
  }
  // A symbol that is the name is not printed.
  const bool implied = function->StringAttr(attr::kGlobalSymbol) == name;
  PrintAttributes(implied ? function->attrs->Without(attr::kGlobalSymbol) : function->attrs);
  PrintPrologueLines(std::span(prologue.lines).subspan(prologue.signature_lines));
  PrintBody(function->body, nullptr);
  --context_.indent;
  context_.EndLine();
  out_.Append('\n');
}

// Those of 0.27 are sorted by their names.
void RelaxPrinter::DefineSignatureVars(std::span<const tir::Var* const> vars) {
  if (context_.Since(TextVersion::kV0_27)) {
    type_params_ = DefineTypeVars(vars, names_);
  } else {
    for (const tir::Var* var : vars) names_.Define(var);
  }
}

void RelaxPrinter::PrintHeader(const Function* function, std::string_view name, bool is_private,
                               const TypePrinter::Introduced* introduced) {
  out_.Append("@R.function");
  if (!function->is_pure) out_.Append(is_private ? "(pure=False, private=True)" : "(pure=False)");
  if (function->is_pure && is_private) out_.Append("(private=True)");
  {
    const auto placed = context_.Placed(function);
    context_.NewLine();
  }
  out_.Append("def ");
  out_.Append(name);
  if (context_.pep695) PrintTypeParams(type_params_, out_);
  out_.Append('(');
  bool first = true;
  for (const Var* param : function->params) {
    if (!first) out_.Append(", ");
    first = false;
    // From 0.26 on, a parameter that is a scalar and the symbolic variable of its value are one.
    const tir::Var* scalar = context_.Since(TextVersion::kV0_26) ? ScalarParam(param->type) : nullptr;
    if (scalar) names_.Alias(param, names_.Define(scalar));
    out_.Append(names_.Define(param));
    if (!param->type) continue;
    out_.Append(": ");
    types_.Print(param->type, introduced);
  }
  out_.Append(')');
  if (function->ret_type) {
    out_.Append(" -> ");
    types_.Print(function->ret_type, introduced);
  }
  out_.Append(':');
  ++context_.indent;
}

// n = T.int64(), or the alias of the module.
void RelaxPrinter::PrintPrologueLine(const tir::Var* var) {
  context_.NewLine();
  if (!var) {
    out_.Append("cls = ");
    return out_.Append(ClassName(*context_.module));
  }
  out_.Append(names_.Find(var));
  out_.Append(" = T.");
  out_.Append(var->dtype.ToString());
  out_.Append(var->is_size_var() && !context_.Since(TextVersion::kV0_26) ? "(is_size_var=True)" : "()");
}

void RelaxPrinter::PrintPrologueLines(std::span<const tir::Var* const> lines) {
  for (const tir::Var* var : lines) {
    if (var) names_.Define(var);
    PrintPrologueLine(var);
  }
}

void RelaxPrinter::PrintAttributes(const DictAttr* attrs) {
  if (attrs->size() == 0) return;
  attrs = FuncAttrsOfVersion(attrs, context_.version);
  context_.NewLine();
  out_.Append("R.func_attr(");
  PrintAttr(attrs, context_, ScriptDialect::kRelax);
  out_.Append(')');
}

void RelaxPrinter::PrintNestedFunction(const Binding* binding, const Function* function) {
  const std::string_view name = names_.Define(binding->var);
  const size_t mark = names_.Mark();
  bool tir = before_.tir;
  std::span<const tir::Var*const> vars, lines;
  if (nested_ < prologue_->nested.size()) {
    const RelaxPrologue::Nested& nested = prologue_->nested[nested_];
    tir = tir || nested.uses_tir;
    vars = nested.type_vars;
    lines = nested.lines;
    DefineSignatureVars(vars);
    before_.type_vars = before_.type_vars || !type_params_.empty();
  }
  ++nested_;
  context_.NewLine();
  PrintImports({before_.ir, tir, true, before_.type_vars}, context_);
  if (!context_.pep695) PrintTypeVars();
  const TypePrinter::Introduced introduced(vars.begin(), vars.end());
  PrintHeader(function, name, false, &introduced);
  type_params_.clear();
  if (!context_.Since(TextVersion::kV0_27)) {
    for (const tir::Var* var : vars) PrintPrologueLine(var);
  }
  PrintAttributes(function->attrs);
  PrintPrologueLines(lines);
  WithStack([&] { PrintBody(function->body, nullptr); });
  --context_.indent;
  names_.Release(mark);
  context_.EndLine();
  out_.Append('\n');
}

void RelaxPrinter::PrintTypeVars() {
  for (const std::string_view name : type_params_) {
    out_.Append(name);
    out_.Append(" = TypeVar(\"");
    out_.Append(name);
    out_.Append("\")");
    context_.NewLine();
  }
}

void RelaxPrinter::PrintScope(const Expr* body, const Var* target) {
  const size_t mark = names_.Mark();
  PrintBody(body, target);
  names_.Release(mark);
}

void RelaxPrinter::PrintBody(const Expr* body, const Var* target) {
  const auto* seq = As<SeqExpr>(body);
  if (seq) {
    for (const BindingBlock* block : seq->blocks) PrintBlock(block);
  }
  const Expr* value = seq ? seq->body : body;
  const auto placed = context_.Placed(PlaceOf(value, target));
  context_.NewLine();
  if (target) {
    PrintAssignment(target, value, true);
  } else {
    out_.Append("return ");
    exprs_.Print(value);
  }
}

void RelaxPrinter::PrintBlock(const BindingBlock* block) {
  if (!block->is_dataflow()) {
    for (const Binding* binding : PrefetchedRange(block->bindings, PrefetchedRange::kDetails)) PrintBinding(binding);
    return;
  }
  context_.NewLine();
  out_.Append("with R.dataflow():");
  ++context_.indent;
  std::vector<const Var*> outputs;
  for (const Binding* binding : PrefetchedRange(block->bindings, PrefetchedRange::kDetails)) {
    const bool is_output = !binding->var->is_dataflow();
    PrintBinding(binding, is_output);
    if (is_output) outputs.push_back(binding->var);
  }
  context_.NewLine();
  out_.Append("R.output(");
  bool first = true;
  for (const Var* output : outputs) {
    if (!first) out_.Append(", ");
    first = false;
    out_.Append(names_.Define(output));
  }
  out_.Append(')');
  --context_.indent;
}

void RelaxPrinter::PrintBinding(const Binding* binding, bool is_output) {
  const Var* var = binding->var;
  if (const auto* cast = As<MatchCast>(binding)) {
    const auto placed = context_.Placed(PlaceOf(cast->value, var));
    context_.NewLine();
    out_.Append(names_.Define(var));
    if (var->type) {
      out_.Append(": ");
      types_.Print(var->type);
    }
    out_.Append(" = R.match_cast(");
    exprs_.Print(cast->value);
    out_.Append(", ");
    types_.Print(cast->match_type);
    return out_.Append(')');
  }
  const Expr* value = static_cast<const VarBinding*>(binding)->value;
  if (const auto* conditional = As<If>(value)) return PrintIf(var, conditional);
  if (const auto* function = As<Function>(value)) return PrintNestedFunction(binding, function);
  const auto placed = context_.Placed(PlaceOf(value, var));
  context_.NewLine();
  // Only the list of outputs of a dataflow block names an empty tuple.
  if (!is_output && IsVoid(value->type) && IsVoid(var->type)) return exprs_.Print(value);
  PrintAssignment(var, value, !HidesAnnotation(var, value));
}

// The type of a call of a PrimFunc is stated by the call.
bool RelaxPrinter::HidesAnnotation(const Var* var, const Expr* value) const {
  if (context_.options.show_all_types) return false;
  const auto* call = As<Call>(value);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (!op || !call->type_args || call->type_args->fields.size() != 1) return false;
  return IsOneOf(*op, op::kCallTir, op::kCallDpsPacked) && TypeEqual(call->type_args->fields[0], var->type);
}

void RelaxPrinter::PrintAssignment(const Var* var, const Expr* value, bool annotate) {
  out_.Append(names_.Define(var));
  if (annotate && var->type) {
    out_.Append(": ");
    // The value has the rest of the type, and the reader takes it from there.
    const bool is_named = Is<ExternFunc>(value) || Is<Var>(value);
    const bool is_packed = is_named && IsPackedFuncType(var->type) && IsPackedFuncType(value->type);
    is_packed ? out_.Append("R.Callable") : types_.Print(var->type);
  }
  out_.Append(" = ");
  // Since TVM 0.26, x: T.int32 = 2.
  const auto* type = annotate && context_.Since(TextVersion::kV0_26) && var->type ? As<PrimType>(var->type) : nullptr;
  const auto* scalar = type ? As<PrimValue>(value) : nullptr;
  const auto* number = scalar ? As<tir::IntImm>(scalar->value) : nullptr;
  if (number && number->dtype != type->dtype) number = nullptr;
  if (number && number->dtype.is_bool()) return out_.Append(number->value != 0 ? "True" : "False");
  if (number && number->dtype == DataType::Int(32)) return out_.AppendInt(number->value);
  exprs_.PrintTopLevel(value);
}

void RelaxPrinter::PrintIf(const Var* var, const If* value) {
  const auto placed = context_.Placed(value);
  context_.NewLine();
  names_.Define(var);
  WithStack([&] {
    out_.Append("if ");
    exprs_.Print(value->cond);
    out_.Append(':');
    ++context_.indent;
    PrintScope(value->true_branch, var);
    --context_.indent;
    context_.NewLine();
    out_.Append("else:");
    ++context_.indent;
    PrintScope(value->false_branch, var);
    --context_.indent;
  });
}

}  // namespace iropt::text
