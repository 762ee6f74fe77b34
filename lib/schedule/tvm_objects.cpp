#include "tvm_objects.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "json_text.h"
#include "schedule/database/object_graph.h"

namespace iropt::schedule {

namespace {

struct BinaryName {
  std::string_view name;
  NodeKind kind;
};
constexpr BinaryName kBinaryNames[] = {{"Add", NodeKind::kAdd},
                                       {"Sub", NodeKind::kSub},
                                       {"Mul", NodeKind::kMul},
                                       {"Div", NodeKind::kDiv},
                                       {"Mod", NodeKind::kMod},
                                       {"FloorDiv", NodeKind::kFloorDiv},
                                       {"FloorMod", NodeKind::kFloorMod},
                                       {"Min", NodeKind::kMin},
                                       {"Max", NodeKind::kMax},
                                       {"EQ", NodeKind::kEQ},
                                       {"NE", NodeKind::kNE},
                                       {"LT", NodeKind::kLT},
                                       {"LE", NodeKind::kLE},
                                       {"GT", NodeKind::kGT},
                                       {"GE", NodeKind::kGE},
                                       {"And", NodeKind::kAnd},
                                       {"Or", NodeKind::kOr}};

class IndexMapReader {
 public:
  explicit IndexMapReader(const ObjectGraph& graph) : graph_(graph), exprs_(graph.size()), is_open_(graph.size()) {}

  // The inverse of an inverse does not count.
  Result<const IndexMapAttr*> ReadMap(size_t index, bool is_inverse = false) {
    if (!graph_.Is(index, "IndexMap"))
      return GraphError(fmt::format("expected an index map, not '{}'", graph_.TypeOf(index)));
    IROPT_ASSIGN_OR_RETURN(const std::vector<size_t> param_items, graph_.Items(index, "initial_indices"));
    IROPT_ASSIGN_OR_RETURN(const std::vector<size_t> result_items, graph_.Items(index, "final_indices"));
    std::vector<const tir::Var*> params;
    std::vector<const PrimExpr*> results;
    for (const size_t item : param_items) {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* param, Expr(item));
      if (!Is<tir::Var>(param)) return GraphError("a parameter of an index map that is not a variable");
      params.push_back(To<tir::Var>(param));
    }
    for (const size_t item : result_items) {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* result, Expr(item));
      results.push_back(result);
    }
    const IndexMapAttr* inverse = nullptr;
    IROPT_ASSIGN_OR_RETURN(const std::optional<size_t> given, graph_.OptionalChild(index, "inverse_index_map"));
    if (given && !is_inverse) {
      IROPT_ASSIGN_OR_RETURN(inverse, ReadMap(*given, true));
    }
    return IndexMapAttr::Get(params, results, inverse);
  }

 private:
  // Expressions may share nodes; each is made once.
  Result<const PrimExpr*> Expr(size_t index) {
    if (exprs_[index]) return exprs_[index];
    if (is_open_[index]) return GraphError("an expression that contains itself in an object graph");
    is_open_[index] = true;
    IROPT_ASSIGN_OR_RETURN(exprs_[index], WithStack([&] { return MakeExpr(index); }));
    return exprs_[index];
  }

  Result<const PrimExpr*> MakeExpr(size_t index) {
    const std::string_view type = graph_.TypeOf(index);
    const arith::PrimBuilder make;
    if (type == "Var" || type == "SizeVar") {
      IROPT_ASSIGN_OR_RETURN(const std::string name, graph_.Text(index, "name"));
      IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(index));
      return IRContext::Current().NewSymVar(name, dtype);
    }
    if (type == "IntImm") {
      IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(index));
      IROPT_ASSIGN_OR_RETURN(const int64_t value, graph_.Integer(index, "value"));
      if (!dtype.is_scalar() || !dtype.is_integer()) return GraphError("an integer whose dtype is not one of integers");
      return make.Int(value, dtype);
    }
    if (type == "FloatImm") {
      IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(index));
      IROPT_ASSIGN_OR_RETURN(const double value, graph_.Real(index, "value"));
      return make.Float(value, dtype);
    }
    if (type == "Cast") {
      IROPT_ASSIGN_OR_RETURN(const DataType dtype, graph_.DTypeOf(index));
      IROPT_ASSIGN_OR_RETURN(const size_t child, graph_.Child(index, "value"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, Expr(child));
      return make.Cast(dtype, value);
    }
    if (const std::optional<NodeKind> kind = BinaryKindOf(type)) {
      IROPT_ASSIGN_OR_RETURN(const size_t left, graph_.Child(index, "a"));
      IROPT_ASSIGN_OR_RETURN(const size_t right, graph_.Child(index, "b"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* a, Expr(left));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* b, Expr(right));
      if (a->dtype != b->dtype) return GraphError("operands of different dtypes in an object graph");
      return IRContext::Current().Intern(make.Node(*kind, a, b));
    }
    return GraphError(fmt::format("an index map has an object '{}', which is not supported", type));
  }

  const ObjectGraph& graph_;
  std::vector<const PrimExpr*> exprs_;
  std::vector<bool> is_open_;
};

// Collects the nodes of a graph; node 0 is null.
class ObjectWriter {
 public:
  size_t Map(const IndexMapAttr& map) {
    std::vector<size_t> params, results;
    for (size_t i = 0; i < map.params.size(); ++i) params.push_back(Var(map.params[i], map.param_names[i]));
    for (const PrimExpr* result : map.results) results.push_back(Expr(result));
    const size_t initial = Array(params);
    const size_t final = Array(results);
    const size_t inverse = map.inverse ? Map(*map.inverse) : 0;
    return Add(
        fmt::format("{{\"type_key\": \"tir.IndexMap\", \"attrs\": {{\"final_indices\": \"{}\", "
                    "\"initial_indices\": \"{}\", \"inverse_index_map\": \"{}\"}}}}",
                    final, initial, inverse));
  }

  std::string Finish(size_t root) const {
    return fmt::format(
        "{{\"root\": {}, \"nodes\": [{}], \"b64ndarrays\": [], \"attrs\": {{\"tvm_version\": \"0.18.0\"}}}}", root,
        fmt::join(nodes_, ", "));
  }

 private:
  size_t Add(std::string node) {
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  size_t Array(const std::vector<size_t>& items) {
    return Add(fmt::format("{{\"type_key\": \"Array\", \"data\": [{}]}}", fmt::join(items, ", ")));
  }

  size_t Var(const tir::Var* var, std::string_view name) {
    const size_t text = Add(fmt::format("{{\"type_key\": \"runtime.String\", \"repr_str\": \"{}\"}}", name));
    const size_t type =
        Add(fmt::format("{{\"type_key\": \"PrimType\", \"attrs\": {{\"dtype\": \"{}\"}}}}", var->dtype.ToString()));
    const size_t node = Add(
        fmt::format("{{\"type_key\": \"tir.Var\", \"attrs\": {{\"dtype\": \"{}\", \"name\": \"{}\", \"span\": \"0\", "
                    "\"type_annotation\": \"{}\"}}}}",
                    var->dtype.ToString(), text, type));
    exprs_[var] = node;
    return node;
  }

  size_t Expr(const PrimExpr* expr) {
    if (const auto* known = exprs_.Find(expr)) return *known;
    const std::string dtype = expr->dtype.ToString();
    size_t node = 0;
    if (const int64_t* value = arith::AsInt(expr)) {
      node = Add(fmt::format(
          "{{\"type_key\": \"IntImm\", \"attrs\": {{\"dtype\": \"{}\", \"span\": \"0\", \"value\": \"{}\"}}}}", dtype,
          *value));
    } else if (const auto* real = As<tir::FloatImm>(expr)) {
      node = Add(fmt::format(
          "{{\"type_key\": \"FloatImm\", \"attrs\": {{\"dtype\": \"{}\", \"span\": \"0\", \"value\": \"{:.17g}\"}}}}",
          dtype, real->value));
    } else if (const auto* cast = As<tir::Cast>(expr)) {
      const size_t operand = Expr(cast->value);
      node = Add(fmt::format(
          "{{\"type_key\": \"tir.Cast\", \"attrs\": {{\"dtype\": \"{}\", \"span\": \"0\", \"value\": \"{}\"}}}}", dtype,
          operand));
    } else if (const auto* binary = As<tir::BinaryExpr>(expr)) {
      const size_t a = Expr(binary->a);
      const size_t b = Expr(binary->b);
      node =
          Add(fmt::format("{{\"type_key\": \"tir.{}\", \"attrs\": {{\"a\": \"{}\", \"b\": \"{}\", \"dtype\": \"{}\", "
                          "\"span\": \"0\"}}}}",
                          NodeKindName(expr->kind), a, b, dtype));
    } else if (const auto* var = As<tir::Var>(expr)) {
      node = Var(var, var->name);
    }
    exprs_[expr] = node;
    return node;
  }

  std::vector<std::string> nodes_ = {"{\"type_key\": \"\"}"};
  LookupMap<const PrimExpr*, size_t> exprs_;
};

class FirstError : public DiagnosticConsumer {
 public:
  void Consume(const Diagnostic& diagnostic) override {
    if (message.empty()) message = diagnostic.message;
  }
  std::string message;
};

}  // namespace

Result<OptionValue> ParseJson(std::string_view text) {
  FirstError error;
  DiagnosticEngine diagnostics(&error);
  std::optional<OptionValue> value = ReadOptionValue(text, {}, diagnostics);
  if (!value) return Error{ErrorCode::PassFailed, error.message};
  return *std::move(value);
}

std::optional<NodeKind> BinaryKindOf(std::string_view name) {
  for (const BinaryName& binary : kBinaryNames) {
    if (binary.name == name) return binary.kind;
  }
  return std::nullopt;
}

Result<const IndexMapAttr*> ReadIndexMap(std::string_view json) {
  IROPT_ASSIGN_OR_RETURN(const ObjectGraph graph, ObjectGraph::Parse(json));
  return IndexMapReader(graph).ReadMap(graph.root());
}

std::string WriteIndexMap(const IndexMapAttr& map) {
  ObjectWriter writer;
  const size_t root = writer.Map(map);
  return writer.Finish(root);
}

}  // namespace iropt::schedule
