#include "tvm_objects.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "json_text.h"

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

// The name of a type without the parts before it, which differ between versions: tir.Var and ir.Var are both Var.
std::string_view ShortName(std::string_view type) {
  const size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

class ObjectReader {
 public:
  explicit ObjectReader(const OptionValue& graph) : graph_(graph) {}

  Result<const IndexMapAttr*> ReadRoot() {
    const OptionValue* nodes = graph_.Find("nodes");
    const OptionValue* root = graph_.Find("root") ? graph_.Find("root") : graph_.Find("root_index");
    if (!nodes || !nodes->as_list() || !root) return Wrong("expected the nodes of an object graph and their root");
    nodes_ = nodes->as_list();
    exprs_.resize(nodes_->size());
    is_open_.resize(nodes_->size());
    IROPT_ASSIGN_OR_RETURN(const size_t index, Index(*root));
    return ReadMap(index);
  }

 private:
  static Error Wrong(std::string message) { return Error{ErrorCode::PassFailed, std::move(message)}; }

  std::string_view TypeOf(size_t index) const {
    const OptionValue& node = (*nodes_)[index];
    const OptionValue* type = node.Find("type_key") ? node.Find("type_key") : node.Find("type");
    return type && type->as_string() ? ShortName(*type->as_string()) : std::string_view();
  }

  // A field of an object; null if there is none.
  const OptionValue* Field(size_t index, std::string_view name) const {
    const OptionValue& node = (*nodes_)[index];
    const OptionValue* fields = node.Find("attrs") ? node.Find("attrs") : node.Find("data");
    return fields ? fields->Find(name) : nullptr;
  }

  static std::optional<int64_t> Number(const OptionValue& value) {
    if (const int64_t* number = value.as_int()) return *number;
    const std::string* text = value.as_string();
    int64_t number = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ptr != text->data() + text->size())
      return std::nullopt;
    return number;
  }

  Result<size_t> Index(const OptionValue& value) const {
    const std::optional<int64_t> number = Number(value);
    if (!number || *number < 0 || static_cast<size_t>(*number) >= nodes_->size())
      return Wrong("a reference to an object that does not exist");
    return static_cast<size_t>(*number);
  }

  Result<size_t> Child(size_t index, std::string_view field) const {
    const OptionValue* value = Field(index, field);
    if (!value) return Wrong(fmt::format("an object {} without the field '{}'", TypeOf(index), field));
    return Index(*value);
  }

  Result<std::vector<size_t>> Items(size_t index) const {
    const OptionValue* data = (*nodes_)[index].Find("data");
    if (TypeOf(index) != "Array" || (data && !data->as_list())) return Wrong("expected an array in an object graph");
    std::vector<size_t> items;
    if (!data) return items;
    for (const OptionValue& item : *data->as_list()) {
      IROPT_ASSIGN_OR_RETURN(const size_t child, Index(item));
      items.push_back(child);
    }
    return items;
  }

  Result<std::string> Text(size_t index) const {
    const OptionValue& node = (*nodes_)[index];
    const OptionValue* text = node.Find("repr_str") ? node.Find("repr_str") : node.Find("data");
    if (!text || !text->as_string()) return Wrong("expected a string in an object graph");
    return *text->as_string();
  }

  // In older versions, the dtype is a field of the expression itself; in newer ones, of its type.
  Result<DataType> DTypeOf(size_t index) const {
    const OptionValue* dtype = Field(index, "dtype");
    if (!dtype && Field(index, "ty")) {
      IROPT_ASSIGN_OR_RETURN(const size_t type, Child(index, "ty"));
      dtype = Field(type, "dtype");
    }
    const auto parsed = dtype && dtype->as_string() ? DataType::Parse(*dtype->as_string()) : std::nullopt;
    if (!parsed) return Wrong("an expression without a dtype in an object graph");
    return *parsed;
  }

  Result<const IndexMapAttr*> ReadMap(size_t index) {
    if (TypeOf(index) != "IndexMap") return Wrong(fmt::format("expected an index map, not '{}'", TypeOf(index)));
    IROPT_ASSIGN_OR_RETURN(const size_t initial, Child(index, "initial_indices"));
    IROPT_ASSIGN_OR_RETURN(const size_t final, Child(index, "final_indices"));
    IROPT_ASSIGN_OR_RETURN(const std::vector<size_t> param_items, Items(initial));
    IROPT_ASSIGN_OR_RETURN(const std::vector<size_t> result_items, Items(final));
    std::vector<const tir::Var*> params;
    std::vector<const PrimExpr*> results;
    for (const size_t item : param_items) {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* param, Expr(item));
      if (!Is<tir::Var>(param)) return Wrong("a parameter of an index map that is not a variable");
      params.push_back(To<tir::Var>(param));
    }
    for (const size_t item : result_items) {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* result, Expr(item));
      results.push_back(result);
    }
    const IndexMapAttr* inverse = nullptr;
    const OptionValue* given = Field(index, "inverse_index_map");
    if (given && !given->is_null()) {
      IROPT_ASSIGN_OR_RETURN(const size_t child, Index(*given));
      if (TypeOf(child) == "IndexMap") {
        IROPT_ASSIGN_OR_RETURN(inverse, ReadMap(child));
      }
    }
    return IndexMapAttr::Get(params, results, inverse);
  }

  // Expressions may share nodes; each is made once.
  Result<const PrimExpr*> Expr(size_t index) {
    if (exprs_[index]) return exprs_[index];
    if (is_open_[index]) return Wrong("an expression that contains itself in an object graph");
    is_open_[index] = true;
    IROPT_ASSIGN_OR_RETURN(exprs_[index], WithStack([&] { return MakeExpr(index); }));
    return exprs_[index];
  }

  Result<const PrimExpr*> MakeExpr(size_t index) {
    const std::string_view type = TypeOf(index);
    const arith::PrimBuilder make;
    if (type == "Var" || type == "SizeVar") {
      IROPT_ASSIGN_OR_RETURN(const size_t name_index, Child(index, "name"));
      IROPT_ASSIGN_OR_RETURN(const std::string name, Text(name_index));
      IROPT_ASSIGN_OR_RETURN(const DataType dtype, DTypeOf(index));
      return IRContext::Current().NewSymVar(name, dtype);
    }
    if (type == "IntImm" || type == "FloatImm") {
      IROPT_ASSIGN_OR_RETURN(const DataType dtype, DTypeOf(index));
      const OptionValue* value = Field(index, "value");
      if (type == "IntImm" && value && Number(*value)) return make.Int(*Number(*value), dtype);
      const double* real = value ? value->as_double() : nullptr;
      if (type == "FloatImm" && real) return make.Float(*real, dtype);
      if (type == "FloatImm" && value && value->as_string()) return make.Float(std::stod(*value->as_string()), dtype);
      return Wrong("a constant without a value in an object graph");
    }
    if (type == "Cast") {
      IROPT_ASSIGN_OR_RETURN(const DataType dtype, DTypeOf(index));
      IROPT_ASSIGN_OR_RETURN(const size_t child, Child(index, "value"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* value, Expr(child));
      return make.Cast(dtype, value);
    }
    for (const BinaryName& binary : kBinaryNames) {
      if (binary.name != type) continue;
      IROPT_ASSIGN_OR_RETURN(const size_t left, Child(index, "a"));
      IROPT_ASSIGN_OR_RETURN(const size_t right, Child(index, "b"));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* a, Expr(left));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* b, Expr(right));
      if (a->dtype != b->dtype) return Wrong("operands of different dtypes in an object graph");
      return IRContext::Current().Intern(make.Node(binary.kind, a, b));
    }
    return Wrong(fmt::format("an index map has an object '{}', which is not supported", type));
  }

  const OptionValue& graph_;
  const OptionValue::List* nodes_ = nullptr;
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

Result<const IndexMapAttr*> ReadIndexMap(std::string_view json) {
  IROPT_ASSIGN_OR_RETURN(const OptionValue graph, ParseJson(json));
  return ObjectReader(graph).ReadRoot();
}

std::string WriteIndexMap(const IndexMapAttr& map) {
  ObjectWriter writer;
  const size_t root = writer.Map(map);
  return writer.Finish(root);
}

}  // namespace iropt::schedule
