// The dataflow of a module as a graph in the language of Graphviz. For people: it cannot be read back.
#include "iropt/exchange/format.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/infer/infer.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op.h"

namespace iropt::formats {

namespace {

constexpr std::string_view kDotExtensions[] = {".dot", ".gv"};

// As a string of the language, in which only quotes are escaped; the backslash of a label needs another one.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string_view CalleeName(const Expr* callee) {
  if (const auto* op = As<Op>(callee)) return op->info != nullptr ? op->info->script : op->name;
  if (const auto* global = As<GlobalVar>(callee)) return global->name;
  if (const auto* external = As<ExternFunc>(callee)) return external->global_symbol;
  if (const auto* var = As<Var>(callee)) return var->name();
  return "call";
}

// Describes the value of a binding in a few words.
std::string Summary(const Expr* value) {
  if (const auto* call = As<Call>(value)) {
    // Of a call such as R.call_tir(f, ...), the function says more.
    const auto* callee = call->args.empty() ? nullptr : As<GlobalVar>(call->args[0]);
    const std::string_view name = CalleeName(call->op);
    return callee != nullptr ? fmt::format("{} {}", name, callee->name) : std::string(name);
  }
  switch (value->kind) {
    case NodeKind::kConstant: return "constant";
    case NodeKind::kTupleGetItem: return fmt::format("item {}", static_cast<const TupleGetItem*>(value)->index);
    case NodeKind::kTuple: return "tuple";
    case NodeKind::kIf: return "if";
    case NodeKind::kFunction: return "function";
    case NodeKind::kShapeExpr: return "shape";
    case NodeKind::kVar:
    case NodeKind::kDataflowVar: return "alias";
    case NodeKind::kGlobalVar: return std::string(static_cast<const GlobalVar*>(value)->name);
    default: return "value";
  }
}

// One Relax function with its local functions.
class DotWriter : public WalkHandler {
 public:
  DotWriter(const Module& module, size_t function, OutputStream& out, std::string& links)
      : module_(module), prefix_(fmt::format("f{}", function)), out_(out), links_(links) {}

  void Write(const Function& function, std::string_view name) {
    name_ = name;
    Walk(function, *this);
  }

  bool EnterFunction(const Function& function) {
    OpenCluster(name_, "solid");
    open_.push_back({});
    params_left_ = function.params.size();
    return true;
  }
  void LeaveFunction(const Function&) {
    WriteNode("return", "shape=ellipse", open_.back());
    open_.pop_back();
    CloseCluster();
  }
  void EnterBlock(const BindingBlock& block) {
    OpenCluster(block.kind == NodeKind::kDataflowBlock ? "dataflow" : "", "dashed");
  }
  void LeaveBlock(const BindingBlock&) { CloseCluster(); }

  void OnBinding(const Binding& binding) { open_.push_back({.binding = &binding}); }
  void OnUse(const Var* var) {
    if (var->id < ids_.size() && ids_[var->id] != 0) open_.back().operands.push_back(ids_[var->id]);
  }
  void OnGlobal(const GlobalVar* var) { open_.back().globals.push_back(var); }
  void OnDefine(const Var* var) {
    const std::string type = var->type != nullptr ? ": " + TypeToString(var->type) : "";
    const bool is_binding = open_.back().binding != nullptr && open_.back().binding->var == var;
    if (!is_binding && params_left_ == 0) return;
    if (is_binding) {
      const Open done = std::move(open_.back());
      open_.pop_back();
      const Binding& binding = *done.binding;
      const bool is_cast = binding.kind == NodeKind::kMatchCast;
      const std::string what = is_cast ? "match_cast" : Summary(static_cast<const VarBinding&>(binding).value);
      WriteNode(fmt::format("{} = {}\n{}", var->name(), what, type.empty() ? type : type.substr(2)), "shape=box", done);
    } else {
      --params_left_;
      WriteNode(fmt::format("{}{}", var->name(), type), "shape=ellipse", {});
    }
    name_ = var->name();  // of a local function, whose value comes next
    if (var->id >= ids_.size()) ids_.resize(var->id + 1);
    ids_[var->id] = last_;
  }

 private:
  // A binding or function whose operands come next.
  struct Open {
    const Binding* binding = nullptr;
    std::vector<uint32_t> operands = {};
    std::vector<const GlobalVar*> globals = {};
  };

  void Line(std::string_view text) {
    out_.AppendRepeated(' ', 2 * depth_);
    out_.Append(text);
    out_.Append('\n');
  }
  void OpenCluster(std::string_view label, std::string_view style) {
    Line(fmt::format("subgraph cluster_{}_{} {{", prefix_, clusters_++));
    ++depth_;
    Line(fmt::format("label={} style={}", Label(label), style));
  }
  void CloseCluster() {
    --depth_;
    Line("}");
  }

  // With the escape of the language for a line break.
  static std::string Label(std::string_view text) {
    std::string label = Quoted(text);
    for (size_t i = 0; (i = label.find('\n', i)) != std::string::npos; i += 2) label.replace(i, 1, "\\n");
    return label;
  }

  // Edges stand outside of the clusters: a node belongs to the first one that names it.
  void WriteNode(std::string_view label, std::string_view shape, const Open& open) {
    const std::string id = fmt::format("{}_{}", prefix_, ++last_);
    Line(fmt::format("{} [label={} {}]", id, Label(label), shape));
    for (const uint32_t operand : open.operands) links_ += fmt::format("  {}_{} -> {}\n", prefix_, operand, id);
    for (const GlobalVar* global : open.globals) {
      const int index = module_.IndexOf(global);
      if (index < 0) continue;
      const bool is_cluster = Is<Function>(module_.functions()[static_cast<size_t>(index)].func);
      const std::string_view end = is_cluster ? "_1" : "";
      const std::string head = is_cluster ? fmt::format(" lhead=cluster_f{}_0", index) : "";
      links_ += fmt::format("  {} -> f{}{} [style=dashed{}]\n", id, index, end, head);
    }
  }

  const Module& module_;
  const std::string prefix_;
  OutputStream& out_;
  std::string& links_;
  std::string_view name_;
  std::vector<Open> open_;
  std::vector<uint32_t> ids_;  // of the node of a variable; 0: none
  uint32_t last_ = 0;
  uint32_t clusters_ = 0;
  size_t params_left_ = 0;
  size_t depth_ = 1;
};

// A node for each parameter, binding and result of a Relax function, with edges from definitions to uses. Functions and
// blocks are clusters; a PrimFunc or an external function is one node, to which dashed edges lead from its uses. Nodes
// are numbered by function and definition, in the order of the module. O(nodes).
void PrintDot(const Module& module, OutputStream& out) {
  out.Append(fmt::format("digraph {} {{\n", Quoted(module.name())));
  out.Append("  compound=true\n  node [fontname=monospace]\n");
  std::string links;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry& entry = module.functions()[i];
    if (const auto* function = As<Function>(entry.func)) {
      DotWriter(module, i, out, links).Write(*function, entry.var->name);
    } else {
      const std::string_view kind = Is<PrimFunc>(entry.func) ? "PrimFunc" : "external function";
      const std::string label = Quoted(fmt::format("{} {}", kind, entry.var->name));
      out.Append(fmt::format("  f{} [label={} shape=component]\n", i, label));
    }
  }
  out.Append(links);
  out.Append("}\n");
}

class Dot final : public Format {
 public:
  Status Write(const Module& module, const WriteRequest& /*request*/, OutputStream& out,
               DiagnosticEngine& /*diagnostics*/) const override {
    PrintDot(module, out);
    return {};
  }
};

const Format& DotFormat() {
  static const Dot format;
  return format;
}

}  // namespace

extern const FormatRow dot;
constinit const FormatRow dot{.name = "dot", .extensions = kDotExtensions, .reads = false, .built_in = &DotFormat};

}  // namespace iropt::formats
