#include "iropt/driver/eval_expression.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "driver/eval/simplify_scalar.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/runtime/value.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) { return json.dump() + '\n'; }

// Limits of one expression on the command line: 1 GiB for a tensor, and minutes.
constexpr EvalLimits kLimits{.max_bytes = size_t{1} << 30, .max_work = 100'000'000'000};

// Finds what cannot be evaluated for its value alone.
struct EffectFinder : WalkHandler {
  const Call* found = nullptr;
  void OnCall(const Call& call) {
    const auto* op = As<Op>(call.op);
    if (!found && op && !op->info->pure) found = &call;
  }
};

// A function without parameters that returns the expression. Null after a reported error.
const Function* MakeFunctionOf(const Expr* expr, Workspace& workspace, DiagnosticEngine& diagnostics) {
  OpTypeInferrer inferrer(nullptr, workspace.arena(), &diagnostics);
  BlockBuilder builder(workspace, &inferrer);
  builder.BeginBindingBlock();
  const Expr* result = builder.NormalizeArgument(expr);
  const SeqExpr* body = builder.Seq({builder.EndBlock()}, result);
  const Function* function = builder.MakeFunction({}, body);
  return builder.failed() ? nullptr : function;
}

// The value of the expression as one that reads back to it.
Result<const Expr*> Evaluate(const Expr* expr, Workspace& workspace, DiagnosticEngine& diagnostics) {
  const auto fail = [&](const Expr& at, std::string message) {
    diagnostics.Error(Location(at), "no-value", std::move(message));
    return Failure{ErrorCode::SemanticCheck};
  };
  const Function* function = MakeFunctionOf(expr, workspace, diagnostics);
  if (!function) return Failure{ErrorCode::Parse};
  EffectFinder effects;
  Walk(*function, effects);
  if (effects.found) return fail(*effects.found, fmt::format("{} has effects", CalleeName(*effects.found)));
  IROPT_ASSIGN_OR_RETURN(const HostValue value, RunFunction(Module(), *function, {}, diagnostics, {.limits = kLimits}));
  const Expr* literal = MakeLiteral(value, workspace);
  if (!literal) return fail(*expr, "the value is not one that can be written");
  return literal;
}

int Write(CompilerInstance& compiler, std::string_view text) {
  OutputStream out(STDOUT_FILENO);
  out.Append(text);
  const Status written = out.Flush();
  return written.ok() ? 0 : compiler.Report(written.error(), "file");
}

int EvalRelaxExpression(CompilerInstance& compiler, const EvalRequest& request) {
  if (!request.assumptions.empty()) {
    return compiler.Report({ErrorCode::Usage, "flag '-assume' is for expressions on scalars, without R."}, "usage");
  }
  const Result<uint32_t> base = compiler.AddText("-eval", request.text);
  if (!base.ok()) return compiler.Report(base.error(), "file");
  Workspace workspace;
  const Expr* expr = ParseExpression(request.text, *base, workspace, compiler.diagnostics());
  if (!expr) return ExitCode(ErrorCode::Parse);
  const Result<const Expr*> value = Evaluate(expr, workspace, compiler.diagnostics());
  if (!value.ok()) return compiler.Report(value.error(), "no-value");
  const std::string text = ExpressionToString(*value);
  const std::string type = TypeToString((*value)->type);
  const Json json = {{"value", text}, {"type", type}};
  return Write(compiler, request.as_json ? Dump(json) : fmt::format("{}  # {}\n", text, type));
}

}  // namespace

int EvalExpression(const CompilerOptions& options, std::span<const std::string> plugins, const EvalRequest& request) {
  CompilerInstance compiler(options);
  if (const Status loaded = compiler.LoadPlugins(plugins); !loaded.ok())
    return compiler.Report(loaded.error(), "usage");
  if (IsRelaxExpression(request.text)) return EvalRelaxExpression(compiler, request);
  const Result<std::string> text = SimplifyScalar(request, compiler);
  return text.ok() ? Write(compiler, *text) : compiler.Report(text.error(), "syntax");
}

}  // namespace iropt
