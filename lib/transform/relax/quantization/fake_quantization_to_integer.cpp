// FakeQuantizationToInteger: computes with integers what stands between dequantizations and a quantization.
//
//   real = dequantize(x, 0.5, 3)                   y = R.maximum(x, R.const(3, "int8"))
//   relu = R.nn.relu(real)              -->        z = requantize(y, 0.5, 3, 0.25, 0)
//   z = quantize(relu, 0.25, 0)
//
// where dequantize, quantize and requantize are the expressions that the reader of Relay makes of the operators
// qnn.dequantize, ... A region is all that a quantization is computed from, up to dequantizations and constants. It is
// rewritten if each of its operators has a rule (integer_rules.cpp): nn.conv2d becomes qnn.conv2d, and so on. The
// rounding of requantizations takes the place of that of floats, so that results may differ by one step. With
// hard_fail=true, an operator without a rule is an error. With use_qat=true, operators that are left, and whose
// operands are all dequantized, are computed on integers by themselves, if their result is quantized as the operands
// say. Aliases and dead bindings of changed functions are cleaned up, and the bindings have the order of their uses.
// Near-linear in the sizes of the regions.
//
// Source: the pass of Relay of TVM 0.18 of this name. Channels with scales of their own are followed through operators
// that move them, where TVM's pass takes their axis for the old one.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "integer_rules.h"
#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/infer/op_builder.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/rewrite_rules.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/FakeQuantizationToInteger.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/operand_order.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

struct IntegerOptions {
  bool hard_fail = false;
  std::vector<std::string> optional_ops;  // operators of Relay, such as nn.softmax
};

// The rule of an operator, unless it is optional and not asked for. The names are those of Relax without its prefix.
const IntegerRule* RuleOf(const RegionCall& region, const IntegerOptions& options) {
  if (!region.rule || !region.rule->is_optional()) return region.rule;
  const std::string_view name = To<Op>(region.call->op)->name;
  const auto is_named = [&](const std::string& op) { return name.ends_with(op); };
  return std::ranges::any_of(options.optional_ops, is_named) ? region.rule : nullptr;
}

// An expression of a region.
struct RegionNode {
  const Expr* expr = nullptr;  // the variable, or the expression that has none
  const Expr* definition = nullptr;
  std::optional<Quantization> input = {};  // of a dequantization
  RegionCall call = {};                    // of an operator
};

// All that a value is computed from, up to dequantizations.
class Region {
 public:
  Region(const Definitions& definitions, const IntegerOptions& options, Workspace& workspace)
      : definitions_(definitions), options_(options), workspace_(workspace) {}

  // False if something else than operators, tuples, constants and dequantizations is met.
  bool Collect(const Expr* value) {
    stack_.emplace_back(ResolveAlias(value, definitions_));
    while (!stack_.empty()) {
      Visit& top = stack_.back();
      if (top.is_open) {
        nodes_.push_back(std::move(top.node));
        stack_.pop_back();
      } else if (!visited_.insert(top.node.expr)) {
        stack_.pop_back();
      } else if (!Open(top)) {
        return false;
      }
    }
    return true;
  }

  // Operands before their users.
  const std::vector<RegionNode>& nodes() const { return nodes_; }
  // The first operator without a rule, or null.
  const Call* unknown() const { return unknown_; }
  bool has_input() const { return has_input_; }

 private:
  struct Visit {
    explicit Visit(const Expr* expr) { node.expr = expr; }
    RegionNode node;
    bool is_open = false;
  };

  // Pushes the operands of the node, which is invalid afterwards.
  bool Open(Visit& visit) {
    RegionNode& node = visit.node;
    visit.is_open = true;
    node.definition = DefinitionOf(node.expr, definitions_);
    if (Is<Constant>(node.definition)) return true;
    node.input = MatchDequantize(node.expr, definitions_, workspace_);
    if (node.input) return has_input_ = true;
    if (const auto* tuple = As<Tuple>(node.definition)) return Push(tuple->fields);
    if (const auto* item = As<TupleGetItem>(node.definition)) return Push(std::vector{item->tuple});
    const auto* call = As<Call>(node.definition);
    if (!call || !Is<Op>(call->op)) return false;
    node.call = RegionCallOf(call, definitions_);
    if (RuleOf(node.call, options_)) {
      const std::vector<const Expr*> operands = node.call.operands;
      return OthersAreConstant(*call, operands) && Push(operands);
    }
    if (!unknown_) unknown_ = call;
    return Push(call->args);
  }

  template <class Exprs>
  bool Push(const Exprs& exprs) {
    for (const Expr* expr : exprs) {
      if (As<TensorType>(expr->type) || As<TupleType>(expr->type))
        stack_.emplace_back(ResolveAlias(expr, definitions_));
    }
    return true;
  }

  // Returns whether the tensors under the operands, such as the indices of take, are computed from constants. An
  // operator that the reader of Relay writes as several has only operands.
  bool OthersAreConstant(const Call& call, const std::vector<const Expr*>& operands) {
    const size_t count = operands.size();
    if (count > call.args.size() || !std::equal(operands.begin(), operands.end(), call.args.begin())) return true;
    std::vector<const Expr*> others;
    for (size_t i = count; i < call.args.size(); ++i) {
      if (TensorTypeOf(call.args[i])) others.push_back(call.args[i]);
    }
    LookupSet<const Expr*> seen;
    while (!others.empty()) {
      const Expr* value = DefinitionOf(others.back(), definitions_);
      others.pop_back();
      const auto* part = As<Call>(value);
      if (Is<Constant>(value) || !seen.insert(value)) continue;
      if (!part || !Is<Op>(part->op)) return false;
      for (const Expr* arg : part->args) {
        if (TensorTypeOf(arg)) others.push_back(arg);
      }
    }
    return true;
  }

  const Definitions& definitions_;
  const IntegerOptions& options_;
  Workspace& workspace_;
  std::vector<Visit> stack_;
  LookupSet<const Expr*> visited_;
  std::vector<RegionNode> nodes_;
  const Call* unknown_ = nullptr;
  bool has_input_ = false;
};

class IntegerRewriter {
 public:
  IntegerRewriter(FunctionPassContext& context, const IntegerOptions& options)
      : module_(context.module()),
        workspace_(context.workspace()),
        diagnostics_(context.diagnostics()),
        options_(options) {}

  bool failed() const { return failed_; }

  // The quantization computed with integers; null if it stays as it is.
  const Expr* RewriteQuantization(const Expr* expr, const Definitions& definitions) {
    const auto output = MatchQuantize(expr, definitions, workspace_);
    if (!output) return nullptr;
    Region region(definitions, options_, workspace_);
    if (!region.Collect(output->data) || !region.has_input() || IsIntegerForm(region, *output)) return nullptr;
    if (const Call* unknown = region.unknown()) {
      return Skip(*unknown, fmt::format("{} cannot be computed with integers", To<Op>(unknown->op)->name));
    }
    return Attempt(*To<Call>(expr), [&](RegionContext& context) -> const Expr* {
      context.out = output->type;
      const std::optional<IntegerValue> value = Convert(region, output->data, definitions, context);
      if (!value || value->types.size() != 1) return nullptr;
      const AffineType& from = value->types.front();
      if (AreClose(from, output->type)) return value->expr;
      return RuleCall(context, *To<Call>(expr), {}, true).Requantize(value->expr, from, output->type);
    });
  }

  // An operator on dequantized tensors as a dequantization; null if it stays as it is.
  const Expr* RewriteAlone(const Expr* expr, const Definitions& definitions) {
    const auto* call = To<Call>(expr);
    const RegionCall op = RegionCallOf(call, definitions);
    if (!Is<Op>(call->op) || !IsComputedAlone(op) || !RuleOf(op, options_)) return nullptr;
    std::vector<IntegerValue> operands;
    bool has_input = false;
    for (const Expr* operand : op.operands) {
      const auto input = MatchDequantize(operand, definitions, workspace_);
      if (!input && !Is<Constant>(DefinitionOf(operand, definitions))) return nullptr;
      operands.push_back(input ? IntegerValue{input->data, {input->type}} : IntegerValue{operand});
      has_input |= input.has_value();
    }
    if (!has_input) return nullptr;
    return Attempt(*call, [&](RegionContext& context) -> const Expr* {
      RuleCall rule_call(context, *call, std::move(operands), true);
      const auto value = op.rule->Apply(rule_call);
      if (!value || value->types.size() != 1) return nullptr;
      const AffineType& type = value->types.front();
      return rule_call.Relay("qnn.dequantize", {value->expr, type.scale, type.zero_point},
                             {RuleCall::Attribute("axis", PyValue::Int(type.axis, {}))});
    });
  }

 private:
  // Returns whether the region is a quantized operator of Relay already, such as qnn.sqrt.
  static bool IsIntegerForm(const Region& region, const Quantization& output) {
    const std::vector<RegionNode>& nodes = region.nodes();
    return nodes.size() == 2 && nodes[0].input && nodes[0].input->type.dtype == output.type.dtype &&
           nodes[1].definition == nodes[1].call.call && IsComputedInFloats(nodes[1].call);
  }

  // The value of the last node, in the integer program.
  static std::optional<IntegerValue> Convert(const Region& region, const Expr* last, const Definitions& definitions,
                                             RegionContext& context) {
    LookupMap<const Expr*, IntegerValue> values;
    const auto value_of = [&](const Expr* expr) {
      const auto* found = values.Find(ResolveAlias(expr, definitions));
      return found ? *found : IntegerValue();
    };
    for (const RegionNode& node : region.nodes()) {
      std::optional<IntegerValue> value;
      if (node.input) {
        value = IntegerValue{node.input->data, {node.input->type}};
      } else if (Is<Constant>(node.definition)) {
        value = IntegerValue{node.definition};
      } else if (const auto* tuple = As<Tuple>(node.definition)) {
        value = ConvertTuple(*tuple, value_of, context);
      } else if (const auto* item = As<TupleGetItem>(node.definition)) {
        value = ConvertItem(*item, value_of(item->tuple), context);
      } else {
        std::vector<IntegerValue> operands;
        for (const Expr* operand : node.call.operands) operands.push_back(value_of(operand));
        RuleCall call(context, *node.call.call, std::move(operands), node.expr == last);
        value = node.call.rule->Apply(call);
      }
      if (!value) return std::nullopt;
      values[node.expr] = std::move(*value);
    }
    return value_of(last);
  }

  template <class ValueOf>
  static std::optional<IntegerValue> ConvertTuple(const Tuple& tuple, ValueOf&& value_of, RegionContext& context) {
    std::vector<const Expr*> fields;
    IntegerValue value;
    for (const Expr* field : tuple.fields) {
      const IntegerValue part = value_of(field);
      if (part.types.size() != 1) return std::nullopt;
      fields.push_back(part.expr);
      value.types.push_back(part.types.front());
    }
    value.expr = OpBuilder(context.builder).MakeTuple(fields);
    return value;
  }

  static std::optional<IntegerValue> ConvertItem(const TupleGetItem& item, const IntegerValue& tuple,
                                                 RegionContext& context) {
    const auto index = static_cast<size_t>(item.index);
    if (index >= tuple.types.size()) return std::nullopt;
    return IntegerValue{OpBuilder(context.builder).MakeItem(tuple.expr, item.index), {tuple.types[index]}};
  }

  // Returns what `make` returns. Its reports are errors only with hard_fail.
  template <class Make>
  const Expr* Attempt(const Call& call, Make&& make) {
    if (!relay_) {
      const Result<const RelayOperators*> loaded = LoadRelayOperators();
      if (!loaded.ok()) return Fail(call, loaded.error().message);
      relay_ = *loaded;
    }
    DiagnosticBuffer buffer;
    DiagnosticEngine quiet(&buffer);
    OpTypeInferrer inferrer(&module_, workspace_.arena(), &quiet);
    BlockBuilder builder(workspace_, &inferrer);
    RegionContext context{builder, module_, *relay_, quiet};
    const Expr* made = make(context);
    if (made && !quiet.has_errors()) return made;
    const std::vector<Diagnostic>& reports = buffer.diagnostics();
    return Skip(call, reports.empty() ? "the region cannot be computed with integers" : reports.front().message);
  }

  const Expr* Skip(const Call& call, std::string message) {
    return options_.hard_fail ? Fail(call, std::move(message)) : nullptr;
  }
  const Expr* Fail(const Call& call, std::string message) {
    if (!std::exchange(failed_, true)) diagnostics_.Error(Location(call), "pass-failed", std::move(message));
    return nullptr;
  }

  const Module& module_;
  Workspace& workspace_;
  DiagnosticEngine& diagnostics_;
  const IntegerOptions& options_;
  const RelayOperators* relay_ = nullptr;  // until they are needed
  bool failed_ = false;
};

using Rewrite = const Expr* (IntegerRewriter::*)(const Expr*, const Definitions&);

// The function after one kind of rewriting of the calls that match.
Result<const Function*> RewriteCalls(const Function* function, const Pattern& root, std::string_view name,
                                     Rewrite rewrite, const IntegerOptions& options, FunctionPassContext& context) {
  IntegerRewriter integers(context, options);
  RuleSet rules;
  rules.Add({std::string(name), root,
             [&](const Match& match, BlockBuilder&) { return (integers.*rewrite)(match[root], match.definitions()); }});
  OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
  RuleRewriter rewriter(rules, context.workspace(), inferrer);
  const Function* rewritten = rewriter.Run(function);
  if (rewriter.failed() || integers.failed()) return Failure{ErrorCode::PassFailed};
  // Equal operators of several regions stay apart, as in TVM.
  return rewritten == function ? function : CleanUpFunction(rewritten, context, /*merges=*/false);
}

Result<const Function*> ComputeWithIntegers(const Function* function, const IntegerOptions& options, bool use_qat,
                                            FunctionPassContext& context) {
  if (IsPrimitive(*function) || OverwritesVars(*function, &context.module())) return function;
  const Pattern cast = IsCall(GetOp(op::kAstype), {Wildcard()});
  IROPT_ASSIGN_OR_RETURN(const Function* changed,
                         RewriteCalls(function, cast, "quantization-of-integers", &IntegerRewriter::RewriteQuantization,
                                      options, context));
  if (use_qat) {
    const Pattern operand = Wildcard();
    const Pattern any = IsCall(Wildcard(), std::span(&operand, 1)).AnyMoreArgs();
    IROPT_ASSIGN_OR_RETURN(
        changed, RewriteCalls(changed, any, "operator-on-integers", &IntegerRewriter::RewriteAlone, options, context));
  }
  return changed == function ? function : SortIfSorted(changed, function, &context.module(), context.workspace());
}

}  // namespace

Pass CreateFakeQuantizationToInteger(const PassOptions& options) {
  const pass_options::FakeQuantizationToInteger given(options);
  IntegerOptions integers{*given.hard_fail, *given.optional_qnn_ops};
  return CreateFunctionPass(options.info(), [integers = std::move(integers), use_qat = *given.use_qat](
                                                const Function* function, FunctionPassContext& context) {
    return ComputeWithIntegers(function, integers, use_qat, context);
  });
}

}  // namespace iropt
