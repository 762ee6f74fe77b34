// The type rules: the calls in test/unit/infer/types have the expected types, and every operator has a case.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "catch.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/module.h"
#include "iropt/op/op.h"
#include "iropt/text/script/parser.h"
#include "type_cases.h"

namespace iropt {
namespace {

const Binding* FindBinding(const Module& module, std::string_view name) {
  const auto* main = As<Function>(module.Find("main")->func);
  for (const BindingBlock* block : As<SeqExpr>(main->body)->blocks) {
    for (const Binding* binding : block->bindings) {
      if (binding->var->name() == name) return binding;
    }
  }
  return nullptr;
}

const Type* TypeOfVar(const Module& module, std::string_view name) { return FindBinding(module, name)->var->type; }

struct Read {
  std::string text;
  std::optional<Module> module;
  DiagnosticBuffer diagnostics;

  explicit Read(const TypeCase& c) : text(ModuleText(c)) {
    DiagnosticEngine engine(&diagnostics);
    module = ParseModule(text, 1, {}, engine);
  }
  std::string_view Text(SourceSpan span) const {
    return span.known() ? std::string_view(text).substr(span.begin - 1, span.end - span.begin) : std::string_view();
  }
  std::string Messages() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.diagnostics()) all += fmt::format("at '{}': {}\n", Text(d.span), d.message);
    return all;
  }
};

void CheckRefused(const TypeCase& c, const Read& read) {
  if (read.module) {
    const Type* type = TypeOfVar(*read.module, "result");
    FAIL_CHECK("accepted as " << TypeToString(type));
    return;
  }
  const auto& all = read.diagnostics.diagnostics();
  const bool found = std::any_of(all.begin(), all.end(), [&](const Diagnostic& d) {
    const std::string_view place = read.Text(d.span);
    return d.message.find(c.expected) != std::string::npos && !place.empty() && c.call.find(place) != std::string::npos;
  });
  if (!found) FAIL_CHECK("expected an error in the call: " << c.expected << "\nfound " << read.Messages());
}

TEST_CASE("calls have the types of the cases") {
  for (const TypeCase& c : TypeCases()) {
    INFO(c.file << ":" << c.line << ": " << c.call);
    const Read read(c);
    if (c.kind == TypeCase::Kind::kRefused) {
      CheckRefused(c, read);
    } else if (!read.module) {
      FAIL_CHECK("refused: " << read.Messages());
    } else {
      CHECK(TypeToString(TypeOfVar(*read.module, "result")) == TypeToString(TypeOfVar(*read.module, "expected")));
    }
  }
}

// The text cannot have such calls, but a program can make them.
TEST_CASE("calls with an operand too few or too many are refused") {
  for (const TypeCase& c : TypeCases()) {
    if (c.kind == TypeCase::Kind::kRefused) continue;
    const Read read(c);
    const auto* binding = read.module ? As<VarBinding>(FindBinding(*read.module, "result")) : nullptr;
    const auto* call = binding ? As<Call>(binding->value) : nullptr;
    const auto* op = call ? As<Op>(call->op) : nullptr;
    if (!op || op->info->variadic) continue;
    INFO(c.file << ":" << c.line << ": " << c.call);
    Arena arena;
    const auto refuses = [&](const std::vector<const Expr*>& args) {
      InferContext context(&*read.module, arena, nullptr);
      const Call changed(call->op, List<const Expr*>(arena.Copy(args)), call->attrs, call->type_args, nullptr);
      return InferType(&changed, context) == nullptr && context.failed();
    };
    std::vector<const Expr*> args(call->args.begin(), call->args.end());
    args.resize(op->info->args.size(), binding->var);
    args.push_back(binding->var);
    CHECK(refuses(args));
    if (op->info->args.empty() || op->info->args[0].absence != ArgAbsence::kRequired) continue;
    CHECK(refuses({}));
  }
}

// The kinds of operands that the cases of an operator cover.
struct Shown {
  bool fixed = false;     // operands of known numbers
  bool symbolic = false;  // with a symbolic dimension or value
  bool unknown = false;   // an operand of unknown shape
  bool refused = false;
};

bool IsUnknown(const Type* type) {
  if (const auto* tensor = As<TensorType>(type)) return !tensor->known;
  if (const auto* shape = As<ShapeType>(type)) return !shape->known;
  if (const auto* distributed = As<DTensorType>(type)) return IsUnknown(distributed->tensor);
  const auto* tuple = As<TupleType>(type);
  return tuple && std::any_of(tuple->fields.begin(), tuple->fields.end(), IsUnknown);
}

void ShowTypes(const std::vector<const Type*>& types, Shown& shown) {
  const bool symbolic = std::any_of(types.begin(), types.end(), [](const Type* t) { return t && t->has_sym_var(); });
  const bool unknown = std::any_of(types.begin(), types.end(), [](const Type* t) { return t && IsUnknown(t); });
  shown.symbolic |= symbolic;
  shown.unknown |= unknown;
  shown.fixed |= !symbolic && !unknown;
}

// A refusal covers operands of unknown shape if the call mentions any.
void ShowRefused(TypeCase c, Shown& shown) {
  shown.refused = true;
  c.call = "any";
  c.kind = TypeCase::Kind::kType;
  c.expected = "R.Object";
  const Read read(c);
  if (!read.module) return;
  const auto* main = As<Function>(read.module->Find("main")->func);
  for (const BindingBlock* block : As<SeqExpr>(main->body)->blocks) {
    for (const Binding* binding : block->bindings) shown.unknown |= IsUnknown(binding->var->type);
  }
}

// The operator of a case, by the text before the bracket.
const OpInfo* OpOf(const TypeCase& c) {
  return FindGraphOpByScript(std::string_view(c.call).substr(2, c.call.find('(') - 2));
}

std::map<const OpInfo*, Shown> ShownByCases() {
  std::map<const OpInfo*, Shown> shown;
  for (const TypeCase& c : TypeCases()) {
    if (c.kind == TypeCase::Kind::kRefused) {
      ShowRefused(c, shown[OpOf(c)]);
      continue;
    }
    const Read read(c);
    const auto* binding = read.module ? As<VarBinding>(FindBinding(*read.module, "result")) : nullptr;
    const auto* call = binding ? As<Call>(binding->value) : nullptr;
    const auto* op = call ? As<Op>(call->op) : nullptr;
    if (!op) continue;
    std::vector<const Type*> types;
    for (const Expr* arg : call->args) types.push_back(arg->type);
    ShowTypes(types, shown[op->info]);
  }
  return shown;
}

bool HasShapes(const OpInfo& info) {
  return std::any_of(info.args.begin(), info.args.end(), [](const OpArg& arg) {
    return arg.kind == ArgKind::kTensor || arg.kind == ArgKind::kScalar || arg.kind == ArgKind::kShape;
  });
}

TEST_CASE("every operator is among the cases, with static, symbolic and unknown shapes and an error") {
  const auto shown = ShownByCases();
  for (const OpInfo& info : AllOps()) {
    if (!info.is_graph_level()) continue;
    INFO(info.name);
    const auto it = shown.find(&info);
    const Shown what = it == shown.end() ? Shown{} : it->second;
    CHECK(what.refused);
    CHECK(what.fixed);
    if (!HasShapes(info)) continue;
    CHECK(what.symbolic);
    CHECK(what.unknown);
  }
}

}  // namespace
}  // namespace iropt
