#include "printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "iropt/analysis/relax/use_order.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/array_attr.h"
#include "iropt/ir/element.h"
#include "iropt/ir/location.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "written_ops.h"

namespace iropt::relay {

namespace {

// Constants of the section after the functions.
class MetadataWriter {
 public:
  std::string Add(const NDArray& array) {
    std::string text;
    EncodeArray(array, [&](std::string_view part) { text += part; });
    arrays_.push_back(std::move(text));
    return fmt::format("meta[relay.Constant][{}]", arrays_.size() - 1);
  }

  void Print(OutputStream& out) const {
    if (arrays_.empty()) return;
    std::vector<size_t> numbers;
    std::string nodes;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      numbers.push_back(i + 3);
      nodes += fmt::format(
          ",\n    {{\"type_key\": \"relay.Constant\", \"attrs\": {{\"_checked_type_\": \"0\", \"data\": \"{}\", "
          "\"span\": \"0\", \"virtual_device_\": \"0\"}}}}",
          i);
    }
    out.Append("\n#[metadata]\n{\n  \"root\": 1, \n  \"nodes\": [\n    {\"type_key\": \"\"},\n");
    out.Append("    {\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"], \"data\": [2]},\n");
    out.Append(
        fmt::format("    {{\"type_key\": \"Array\", \"data\": [{}]}}{}\n  ], \n", fmt::join(numbers, ", "), nodes));
    out.Append("  \"b64ndarrays\": [");
    for (size_t i = 0; i < arrays_.size(); ++i) {
      out.Append(i == 0 ? "\"" : ", \"");
      out.Append(arrays_[i]);
      out.Append("\"");
    }
    out.Append("], \n  \"attrs\": {\"tvm_version\": \"0.18.0\"}\n}\n");
  }

 private:
  std::vector<std::string> arrays_;  // in base64
};

// The element of a tensor of rank 0; nothing for other tensors.
std::optional<double> NumberIn(const NDArray& array) {
  std::optional<double> number;
  if (!array.shape().empty()) return number;
  DispatchElement(array.dtype(), [&]<class T>(std::type_identity<T>) {
    number = static_cast<double>(Element<T>::Load(array.As<T>()[0]));
  });
  return number;
}

// The literal of a tensor of rank 0; empty if it needs the metadata section.
std::string LiteralOf(const NDArray& array) {
  const DataType dtype = array.dtype();
  const std::optional<double> number = NumberIn(array);
  if (!number) return {};
  const double value = *number;
  if (dtype == DataType::Bool()) return value != 0 ? "True" : "False";
  // Numbers of TVM's grammar have no sign; what is not a number has no literal.
  if (!std::isfinite(value) || std::signbit(value)) return {};
  if (dtype == DataType::Float(32)) return fmt::format("{}f", static_cast<float>(value));
  if (dtype == DataType::Float(64)) return fmt::format("{}f64", value);
  if (dtype == DataType::Float(16)) return fmt::format("{}f16", static_cast<float>(value));
  const bool is_exact = value < 1LL << 53;  // as a double
  if (dtype == DataType::Int(16)) return fmt::format("{}i16", static_cast<int64_t>(value));
  if (dtype == DataType::Int(32)) return fmt::format("{}", static_cast<int64_t>(value));
  if (dtype == DataType::Int(64) && is_exact) return fmt::format("{}i64", static_cast<int64_t>(value));
  return {};
}

class RelayPrinter {
 public:
  RelayPrinter(OutputStream& out, DiagnosticEngine& diagnostics) : out_(out), diagnostics_(diagnostics) {}

  bool Run(const Module& module) {
    FindCalled(module);
    out_.Append("#[version = \"0.0.5\"]\n");
    for (bool first = true; const ModuleEntry& entry : module.functions()) {
      if (!first) out_.Append("\n");
      first = false;
      const auto* function = As<Function>(entry.func);
      if (!function) {
        Lacks(*entry.func, fmt::format("Relay text has no form for the function '{}' on loops", entry.var->name));
        continue;
      }
      out_.Append(fmt::format("def @{}", entry.var->name));
      order_.emplace(*function, entry.storage->num_vars);
      used_.clear();  // names belong to the function; only numbers belong to the module
      PrintFunction(*function, 1, entry.var);
      out_.Append("\n");
    }
    metadata_.Print(out_);
    return ok_;
  }

 private:
  std::string Lacks(const Node& node, std::string message) {
    diagnostics_.Error(Location(node), "no-counterpart", std::move(message));
    ok_ = false;
    return "()";
  }

  // ---- Types
  std::string TypeText(const Type* type, const Node& place) {
    std::string text;
    AppendType(type, place, text);
    return text;
  }

  void AppendTypes(List<const Type*> types, const Node& place, std::string& text) {
    bool is_first = true;
    for (const Type* type : types) {
      if (!std::exchange(is_first, false)) text += ", ";
      WithStack([&] { AppendType(type, place, text); });
    }
  }

  // Linear in the text, however deep types are nested.
  void AppendType(const Type* type, const Node& place, std::string& text) {
    if (const auto* tensor = As<TensorType>(type)) {
      text += TensorText(*tensor, place);
    } else if (const auto* tuple = As<TupleType>(type)) {
      text += '(';
      AppendTypes(tuple->fields, place, text);
      text += tuple->fields.size() == 1 ? ",)" : ")";
    } else if (const auto* function = As<FuncType>(type)) {
      text += "fn (";
      AppendTypes(function->params, place, text);
      text += ") -> ";
      WithStack([&] { AppendType(function->ret, place, text); });
    } else {
      text += Lacks(place, "Relay has only types of tensors, tuples and functions");
    }
  }

  std::string TensorText(const TensorType& tensor, const Node& place) {
    if (tensor.dtype.is_void() || (!tensor.known && tensor.ndim == kUnknownDim))
      return Lacks(place, "Relay has no type for a tensor of unknown rank or dtype");
    std::vector<std::string> dims;
    for (int i = 0; i < tensor.ndim; ++i) {
      const int64_t* size = tensor.known ? arith::AsInt(tensor.dims[static_cast<uint32_t>(i)]) : nullptr;
      // The text has no negative sizes, which a window that is larger than the tensor makes.
      dims.push_back(size && *size >= 0 ? fmt::format("{}", *size) : "?");
    }
    if (dims.empty()) return tensor.dtype.ToString();
    return fmt::format("Tensor[({}), {}]", fmt::join(dims, ", "), tensor.dtype.ToString());
  }

  // ---- Functions and scopes

  // The functions that others refer to.
  void FindCalled(const Module& module) {
    for (const ModuleEntry& entry : module.functions()) {
      const auto* function = As<Function>(entry.func);
      if (!function) continue;
      PostOrderVisit(function, [&](const Expr* expr) {
        if (Is<GlobalVar>(expr) && expr != entry.var) called_.insert(expr);
      });
    }
  }

  // Returns whether the attribute of the name that the function has for callers from outside is to be written: the
  // reader gives it to functions that no other one calls.
  bool WritesSymbol(const Expr* var, const StrAttr* symbol) const {
    const auto* global = As<GlobalVar>(var);
    if (!global || !symbol) return false;
    return symbol->value != global->name || (called_.contains(global) && global->name != "main");
  }

  // `var` is that of a function of the module; null for a local one.
  void PrintFunction(const Function& function, int depth, const Expr* var = nullptr) {
    std::vector<std::string> params;
    for (const Var* param : function.params)
      params.push_back(fmt::format("{}: {}", NameVar(*param), TypeText(param->type, *param)));
    for (uint32_t i = 0; i < function.attrs->size(); ++i) {
      const std::string_view key = function.attrs->keys[i];
      if (key == attr::kGlobalSymbol && !WritesSymbol(var, As<StrAttr>(function.attrs->values[i]))) continue;
      const auto* number = As<IntAttr>(function.attrs->values[i]);
      const auto* text = As<StrAttr>(function.attrs->values[i]);
      params.push_back(number ? fmt::format("{}={}", key, number->value)
                       : text ? fmt::format("{}=\"{}\"", key, text->value)
                              : Lacks(function, fmt::format("Relay text has no form for the attribute '{}'", key)));
    }
    out_.Append(fmt::format("({}) -> {} {{\n", fmt::join(params, ", "), TypeText(function.ret_type, function)));
    PrintScope(function.body, depth);
    out_.Append(fmt::format("{:{}}}}", "", 2 * (depth - 1)));
  }

  std::string NameVar(const Var& param) {
    std::string name;
    for (const char c : param.name()) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "p");
    std::string unique = name;
    for (int i = 1; !used_.insert(unique); ++i) unique = fmt::format("{}{}", name, i);
    return names_[&param] = "%" + unique;
  }

  void Indent(int depth) { out_.Append(fmt::format("{:{}}", "", 2 * depth)); }

  // The last value is the result as it stands, if it is one.
  void PrintScope(const Expr* body, int depth) {
    WithStack([&] {
      const auto* seq = As<SeqExpr>(body);
      std::vector<const Binding*> bindings;
      for (const BindingBlock* block : seq ? seq->blocks : List<const BindingBlock*>())
        bindings.insert(bindings.end(), block->bindings.begin(), block->bindings.end());
      const Expr* result = seq ? seq->body : body;
      const auto* last = bindings.empty() ? nullptr : As<VarBinding>(bindings.back());
      const bool ends_in_value = last && last->var == result && !Is<Function>(last->value);
      if (ends_in_value) {
        bindings.pop_back();
        result = last->value;
      }
      const bool outer = std::exchange(uses_lets_, !HasUseOrder(bindings));
      for (const Binding* binding : bindings) PrintBinding(*binding, depth);
      uses_lets_ = outer;
      Indent(depth);
      PrintValue(result, depth);
      out_.Append("\n");
    });
  }

  // Returns whether the reader gives graph bindings this order, and keeps all of them.
  bool HasUseOrder(const std::vector<const Binding*>& bindings) const {
    uint32_t last = 0;
    for (const Binding* binding : bindings) {
      const uint32_t place = order_->PlaceOf(binding->var);
      if (place == UseOrder::kNone || place < last) return false;
      last = place;
    }
    return true;
  }

  void PrintBinding(const Binding& binding, int depth) {
    const auto* bound = As<VarBinding>(&binding);
    if (!bound) {
      // Its uses are not reported again.
      names_[binding.var] =
          Lacks(*binding.var, fmt::format("Relay has no match_cast, which binds '{}'", binding.var->name()));
      return;
    }
    const Expr* value = bound->value;
    values_[bound->var] = value;
    const auto value_of = [this](const Expr* var) { return ValueOf(var); };
    if (const auto* call = As<Call>(value); call && IsWrittenByUser(*call, value_of)) return;
    if (Is<Var>(value) || Is<Constant>(value)) {
      names_[bound->var] = Operand(value);
      return;
    }
    Indent(depth);
    if (const auto* function = As<Function>(value)) return PrintLocal(*bound->var, *function, depth);
    const std::string name = uses_lets_ ? NameVar(*bound->var) : fmt::format("%{}", next_++);
    out_.Append(fmt::format("{}{} = ", uses_lets_ ? "let " : "", name));
    PrintValue(value, depth);
    out_.Append(";\n");
    names_[bound->var] = name;
  }

  void PrintValue(const Expr* value, int depth) {
    const auto* conditional = As<If>(value);
    if (!conditional) return out_.Append(Value(value));
    out_.Append(fmt::format("if ({}) {{\n", Operand(conditional->cond)));
    PrintScope(conditional->true_branch, depth + 1);
    Indent(depth);
    out_.Append("} else {\n");
    PrintScope(conditional->false_branch, depth + 1);
    Indent(depth);
    out_.Append("}");
  }

  // A function that refers to itself has a variable.
  void PrintLocal(const Var& var, const Function& function, int depth) {
    if (uses_lets_ || order_->IsRecursive(&var)) {
      out_.Append(fmt::format("let {}: {} = fn ", NameVar(var), TypeText(var.type, var)));
    } else {
      names_[&var] = fmt::format("%{}", next_++);
      out_.Append(fmt::format("{} = fn ", names_[&var]));
    }
    PrintFunction(function, depth + 1);
    out_.Append(";\n");
  }

  // ---- Expressions
  std::string Value(const Expr* value) {
    if (const auto* call = As<Call>(value)) return CallText(*call);
    if (const auto* item = As<TupleGetItem>(value)) return fmt::format("{}.{}", Operand(item->tuple), item->index);
    return Operand(value);
  }

  std::string CallText(const Call& call) {
    if (Is<Var>(call.op) || Is<GlobalVar>(call.op)) return fmt::format("{}({})", Operand(call.op), Operands(call.args));
    const auto value_of = [this](const Expr* var) { return ValueOf(var); };
    const std::optional<WrittenCall> written = WriteOperator(call, value_of, workspace_);
    if (!written) return LacksForm(call);
    std::string operands = Operands(written->operands);
    if (written->takes_tuple) operands = fmt::format("({}{})", operands, written->operands.size() == 1 ? "," : "");
    // Without operands the comma before the first attribute goes.
    const std::string_view attributes = written->attributes;
    return fmt::format("{}({}{})", written->name, operands,
                       operands.empty() && !attributes.empty() ? attributes.substr(2) : attributes);
  }

  std::string LacksForm(const Call& call) {
    const auto* op = As<Op>(call.op);
    return Lacks(call, fmt::format("Relay text has no form for this call of {}",
                                   op && op->info ? op->info->script : std::string_view("an operator")));
  }

  const Expr* ValueOf(const Expr* var) const { return values_.Lookup(var); }

  template <class Range>
  std::string Operands(const Range& range) {
    std::string text;
    AppendOperands(range, text);
    return text;
  }

  std::string Operand(const Expr* operand) {
    std::string text;
    AppendOperand(operand, text);
    return text;
  }

  template <class Range>
  void AppendOperands(const Range& range, std::string& text) {
    bool is_first = true;
    for (const Expr* operand : range) {
      if (!std::exchange(is_first, false)) text += ", ";
      WithStack([&] { AppendOperand(operand, text); });
    }
  }

  // Linear in the text, however deep tuples are nested.
  void AppendOperand(const Expr* operand, std::string& text) {
    const auto* tuple = As<Tuple>(operand);
    if (!tuple) {
      text += Leaf(operand);
      return;
    }
    text += '(';
    AppendOperands(tuple->fields, text);
    text += tuple->fields.size() == 1 ? ",)" : ")";
  }

  // An operand that is not a tuple.
  std::string Leaf(const Expr* operand) {
    if (const auto* var = As<Var>(operand)) {
      if (const std::string* name = names_.Find(var)) return *name;
      const auto* call = As<Call>(ValueOf(var));
      const auto* op = call ? As<Op>(call->op) : nullptr;
      return op ? LacksForm(*call) : Lacks(*var, "the variable is not bound");
    }
    if (const auto* global = As<GlobalVar>(operand)) return fmt::format("@{}", global->name);
    if (const auto* constant = As<Constant>(operand)) {
      std::string literal = LiteralOf(*constant->data);
      return literal.empty() ? metadata_.Add(*constant->data) : literal;
    }
    return Lacks(*operand, "Relay has only tensors, tuples and functions as values");
  }

  OutputStream& out_;
  DiagnosticEngine& diagnostics_;
  Workspace workspace_;  // of constants that only the text has
  MetadataWriter metadata_;
  LookupMap<const Expr*, std::string> names_;   // of variables
  LookupMap<const Expr*, const Expr*> values_;  // of variables that were bound
  LookupSet<std::string> used_;
  LookupSet<const Expr*> called_;  // functions of the module
  std::optional<UseOrder> order_;  // of the function of the module
  bool uses_lets_ = false;         // in the scope
  int next_ = 0;                   // graph bindings are numbered through the module
  bool ok_ = true;
};

}  // namespace

bool PrintModule(const Module& module, OutputStream& out, DiagnosticEngine& diagnostics) {
  return RelayPrinter(out, diagnostics).Run(module);
}

}  // namespace iropt::relay
