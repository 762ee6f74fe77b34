#include "patterns.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "iropt/ir/dispatch.h"
#include "iropt/ir/relax/pattern.h"
#include "iropt/pass/registry.h"
#include "node.h"
#include "pass_handle.h"
#include "session.h"
#include "transform/relax/algebra/combine_parallel_matmul.h"
#include "transform/relax/fusion/fuse_ops_by_pattern.h"
#include "values.h"

namespace iropt::python {

namespace {

// What keeps the nodes alive that conditions of Python are asked about. Under the interpreter lock.
KeepRef& CurrentKeep() {
  static KeepRef keep;
  return keep;
}

class KeepScope {
 public:
  explicit KeepScope(KeepRef keep) : outer_(std::exchange(CurrentKeep(), std::move(keep))) {}
  KeepScope(const KeepScope&) = delete;
  KeepScope& operator=(const KeepScope&) = delete;
  ~KeepScope() { CurrentKeep() = std::move(outer_); }

 private:
  KeepRef outer_;
};

Pattern::Predicate ToPredicate(py::object function) {
  const auto callback = std::make_shared<const Callback>(std::move(function));
  return [callback](const Expr* expr) {
    const py::gil_scoped_acquire lock;
    return py::bool_((**callback)(ToPython(expr, CurrentKeep()))).cast<bool>();
  };
}

uintptr_t IdOf(const PatternNode& node) { return reinterpret_cast<uintptr_t>(&node); }

// The parts of a match by the numbers of their patterns: the expression, or the variable that is bound to it.
py::dict PartsOf(const Match& match, bool as_vars, const KeepRef& keep) {
  py::dict parts;
  for (const auto& [node, leaf] : match.parts()) {
    const Expr* expr = as_vars ? leaf : DefinitionOf(leaf, match.definitions());
    parts[py::int_(IdOf(*node))] = ToPython(expr, keep);
  }
  return parts;
}

// Variables with the values that a match looks through.
class PyDefinitions : public Definitions {
 public:
  void Set(const NodeRef& var, const NodeRef& value) {
    values_[To<Var>(var.node)] = To<Expr>(value.node);
    Hold(var.keep);
    Hold(value.keep);
  }
  void Remove(const NodeRef& var) { values_.erase(To<Var>(var.node)); }
  py::object Try(const Pattern& pattern, const NodeRef& ref, bool as_vars) const {
    Build build;
    for (const KeepRef& keep : kept_) build.Use(keep);
    build.Use(ref.keep);
    const KeepRef keep = build.Made(ref.node).keep;
    const KeepScope scope(keep);
    Match match(*this);
    if (!match.Try(pattern, To<Expr>(ref.node))) return py::none();
    return PartsOf(match, as_vars, keep);
  }

  const Expr* ValueOf(const Var* var) const override {
    const auto found = values_.find(var);
    return found == values_.end() ? nullptr : found->second;
  }

 private:
  // Most nodes are of one function, so the owners are few.
  void Hold(const KeepRef& keep) {
    const bool known = std::ranges::any_of(
        kept_, [&](const KeepRef& other) { return other->storage == keep->storage && other->store == keep->store; });
    if (!known) kept_.push_back(keep);
  }

  std::unordered_map<const Var*, const Expr*> values_;
  std::vector<KeepRef> kept_;
};

// Asks a function of Python about a match: of (function, variable of the root, expressions by pattern). Its result is
// a dictionary of attributes, or None.
FusionPattern::Decide ToDecision(py::object function) {
  const auto callback = std::make_shared<const Callback>(std::move(function));
  return [callback](const ModuleEntry& entry, const Match& match, const Var& root) -> const DictAttr* {
    const py::gil_scoped_acquire lock;
    const KeepRef keep = Session::Current()->KeepOf(entry.storage);
    const py::object attrs =
        (**callback)(ToPython(entry.func, keep), ToPython(&root, keep), PartsOf(match, false, keep));
    if (attrs.is_none()) return nullptr;
    Build build;
    return ToDictAttr(attrs, build);
  };
}

// The pattern in FuseOpsByPattern: its conditions are asked about nodes of the functions that are fused.
std::shared_ptr<PassHandle> FusePatterns(const std::vector<std::tuple<std::string, Pattern, py::object>>& rows,
                                         bool bind_constants, bool annotate_codegen,
                                         const std::vector<std::string>& entry_functions) {
  std::vector<FusionPattern> patterns;
  for (const auto& [name, pattern, decide] : rows)
    patterns.push_back({name, pattern, decide.is_none() ? nullptr : ToDecision(decide)});
  PassInfo info = PassRegistry::Global().Find("FuseOpsByPattern")->info;
  info.is_serial = true;
  const auto fuse = [=](Module module, ModulePassContext& context) {
    const py::gil_scoped_acquire lock;
    const KeepScope scope(Session::Current()->keep());
    return FuseOpsByPattern(std::move(module), patterns, entry_functions,
                            bind_constants ? Constants::kBind : Constants::kLift, annotate_codegen,
                            context.diagnostics);
  };
  return std::make_shared<PassHandle>(info, [info, fuse](Log&) { return CreateModulePass(info, fuse); });
}

// CombineParallelMatmul with a condition: a function of (function, left factor, right factors, biases).
std::shared_ptr<PassHandle> CombineProducts(py::object holds) {
  const auto callback = std::make_shared<const Callback>(std::move(holds));
  const ParallelProductsCheck check = [callback](const Function& function, const FunctionPassContext& context,
                                                 const ParallelProducts& products) {
    const py::gil_scoped_acquire lock;
    const KeepRef keep = Session::Current()->KeepOf(context.storage());
    const auto list = [&](const std::vector<const Expr*>& exprs) {
      py::list result;
      for (const Expr* expr : exprs) result.append(ToPython(expr, keep));
      return result;
    };
    return py::bool_((**callback)(ToPython(&function, keep), ToPython(products.left, keep), list(products.factors),
                                  list(products.biases)))
        .cast<bool>();
  };
  PassInfo info = PassRegistry::Global().Find("CombineParallelMatmul")->info;
  info.is_serial = true;
  return std::make_shared<PassHandle>(info, [info, check](Log&) { return CreateCombineParallelMatmul(info, check); });
}

void AddConstructors(py::module_& m) {
  using Patterns = std::vector<Pattern>;
  m.def("pattern_wildcard", &Wildcard);
  m.def("pattern_var", &IsVar);
  // The caller keeps the node.
  m.def("pattern_expr", [](const NodeRef& expr) { return IsExpr(To<Expr>(expr.node)); });
  m.def("pattern_constant", &IsConstant);
  m.def("pattern_call", [](const Pattern& callee, const Patterns& args, bool more_args, bool commutative) {
    Pattern call = IsCall(callee, args);
    if (more_args) call = call.AnyMoreArgs();
    return commutative ? call.Commutative() : call;
  });
  m.def("pattern_tuple", [](const Patterns& fields) { return IsTuple(fields); });
  m.def("pattern_tuple_in_any_order", [](const Patterns& fields) { return IsTupleInAnyOrder(fields); });
  m.def("pattern_tuple_get_item", &IsTupleGetItem);
  m.def("pattern_function", [](const Patterns& params, const Pattern& body) { return IsFunction(params, body); });
  m.def("pattern_or", [](const Pattern& a, const Pattern& b) { return a | b; });
  m.def("pattern_and", [](const Patterns& patterns) { return IsAll(patterns); });
  m.def("pattern_not", &IsNot);
}

}  // namespace

void AddPatterns(py::module_& m) {
  py::class_<Pattern>(m, "Pattern")
      .def_property_readonly("id", [](const Pattern& pattern) { return IdOf(pattern.node()); })
      .def("with_dims",
           [](const Pattern& self, const py::list& values) {
             Build build;
             std::vector<const PrimExpr*> dims;
             for (const py::handle value : values) dims.push_back(ToDim(value, build));
             return self.WithDims(dims);
           })
      .def("where", [](const Pattern& self, py::object holds) { return self.Where(ToPredicate(std::move(holds))); })
      .def("where_leaf",
           [](const Pattern& self, py::object holds) { return self.WhereLeaf(ToPredicate(std::move(holds))); });
  AddConstructors(m);
  py::class_<PyDefinitions>(m, "Definitions")
      .def(py::init())
      .def("set", &PyDefinitions::Set)
      .def("remove", &PyDefinitions::Remove)
      .def("match", &PyDefinitions::Try, py::arg("pattern"), py::arg("expr"), py::arg("as_vars") = false);
  m.def("fuse_patterns_pass", &FusePatterns);
  m.def("combine_products_pass", &CombineProducts);
}

}  // namespace iropt::python
