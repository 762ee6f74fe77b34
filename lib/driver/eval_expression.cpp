#include "iropt/driver/eval_expression.h"

#include <fmt/format.h>
#include <unistd.h>

#include "iropt/driver/compiler_instance.h"
#include "iropt/eval/evaluator.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/location.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

// The limits of one expression on the command line: 1 GiB for a tensor, and minutes.
constexpr EvalLimits kLimits{.max_bytes = size_t{1} << 30, .max_work = 100'000'000'000};

// Replaces calls by their values from the innermost to the outermost. Each value is a literal with a type, so that the
// type rule of the enclosing call can use it.
class ExpressionEvaluator {
 public:
  ExpressionEvaluator(Workspace& workspace, DiagnosticEngine& diagnostics)
      : workspace_(workspace), diagnostics_(diagnostics), context_(nullptr, workspace.arena(), &diagnostics) {}

  // Null after a reported error, whose code is code().
  const Expr* Reduce(const Expr* expr) {
    return WithStack([&]() -> const Expr* {
      switch (expr->kind) {
        case NodeKind::kCall: return ReduceCall(*To<Call>(expr));
        case NodeKind::kTuple: return ReduceTuple(*To<Tuple>(expr));
        case NodeKind::kTupleGetItem: return ReduceItem(*To<TupleGetItem>(expr));
        default: break;
      }
      if (LiteralValue(expr)) return expr;
      return Fail(*expr, "this is not a constant", ErrorCode::SemanticCheck);
    });
  }
  ErrorCode code() const { return code_; }

 private:
  const Expr* Fail(const Expr& at, std::string message, ErrorCode code) {
    diagnostics_.Error(Location(at.span()), "no-value", std::move(message));
    code_ = code;
    return nullptr;
  }

  std::optional<List<const Expr*>> ReduceAll(List<const Expr*> exprs) {
    std::vector<const Expr*> reduced;
    for (const Expr* expr : exprs) {
      reduced.push_back(Reduce(expr));
      if (!reduced.back()) return std::nullopt;
    }
    return workspace_.Copy(reduced);
  }

  // The expression with its inferred type.
  template <class T>
  const T* Typed(T* node, const Expr& old) {
    node->set_span(old.span());
    node->type = InferType(node, context_);
    return node->type ? node : nullptr;
  }

  const Expr* ReduceCall(const Call& call) {
    const auto* op = As<Op>(call.op);
    if (!op) return Fail(call, "only operators can be called here", ErrorCode::SemanticCheck);
    const auto args = ReduceAll(call.args);
    if (!args) return nullptr;
    const Call* typed = Typed(workspace_.New<Call>(call.op, *args, call.attrs, call.type_args, nullptr), call);
    if (!typed) return nullptr;
    std::vector<HostValue> values;
    for (const Expr* arg : typed->args) values.push_back(*LiteralValue(arg));
    if (!op->info->pure) return Fail(call, fmt::format("{} has effects", op->info->script), ErrorCode::SemanticCheck);
    const Result<HostValue> result = EvalOp(*op->info, call.attrs, values, kLimits);
    if (!result) return Fail(call, result.error().message, result.error().code);
    Expr* literal = const_cast<Expr*>(MakeLiteral(*result, workspace_));  // made here and not shared yet
    literal->set_span(call.span());
    return literal;
  }

  const Expr* ReduceTuple(const Tuple& tuple) {
    const auto fields = ReduceAll(tuple.fields);
    return fields ? Typed(workspace_.New<Tuple>(*fields, nullptr), tuple) : nullptr;
  }

  const Expr* ReduceItem(const TupleGetItem& item) {
    const Expr* tuple = Reduce(item.tuple);
    if (!tuple) return nullptr;
    if (!Typed(workspace_.New<TupleGetItem>(tuple, item.index, nullptr), item)) return nullptr;
    return To<Tuple>(tuple)->fields[static_cast<size_t>(item.index)];
  }

  Workspace& workspace_;
  DiagnosticEngine& diagnostics_;
  InferContext context_;
  ErrorCode code_ = ErrorCode::Parse;
};

}  // namespace

int EvalExpression(const CompilerOptions& options, std::span<const std::string> plugins, const std::string& text) {
  CompilerInstance compiler(options);
  if (const Status loaded = compiler.LoadPlugins(plugins); !loaded.ok())
    return compiler.Report(loaded.error(), "usage");
  const Result<uint32_t> base = compiler.AddText("-eval", text);
  if (!base.ok()) return compiler.Report(base.error(), "file");
  Workspace workspace;
  const Expr* expr = ParseExpression(text, *base, workspace, compiler.diagnostics());
  if (!expr) return ExitCode(ErrorCode::Parse);
  ExpressionEvaluator evaluator(workspace, compiler.diagnostics());
  const Expr* value = evaluator.Reduce(expr);
  if (!value) return ExitCode(evaluator.code());
  OutputStream out(STDOUT_FILENO);
  out.Append(fmt::format("{}  # {}\n", ExpressionToString(value), TypeToString(value->type)));
  const Status written = out.Flush();
  return written.ok() ? 0 : compiler.Report(written.error(), "file");
}

}  // namespace iropt
