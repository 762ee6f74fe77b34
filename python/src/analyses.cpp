#include "analyses.h"

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "errors.h"
#include "iropt/analysis/tir/block_access.h"
#include "iropt/analysis/tir/buffer_scopes.h"
#include "iropt/analysis/tir/races.h"
#include "iropt/analysis/tir/reshape_pattern.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/deduce_bound.h"
#include "iropt/arith/int_set.h"
#include "iropt/arith/linear_equation.h"
#include "iropt/infer/infer.h"
#include "iropt/ir/dispatch.h"
#include "iropt/op/op.h"
#include "module.h"
#include "node.h"
#include "values.h"

namespace iropt::python {

namespace {

// The nodes that a field refers to, in order.
template <class T, class F>
void ForEachChild(const T& value, F&& f) {
  if constexpr (requires {
                  value.first;
                  value.count;
                }) {
    for (const auto& item : value) ForEachChild(item, f);
  } else if constexpr (std::is_convertible_v<T, const Node*>) {
    if (value != nullptr) f(static_cast<const Node*>(value));
  }
}

// Every node below a root, parents before or after their children, each once. Types and attributes are parts of the
// nodes that have them, and are not visited.
class Walk {
 public:
  // The nodes in the order of a walk that visits children first.
  std::vector<const Node*> PostOrder(const Node* root) {
    std::vector<std::pair<const Node*, bool>> stack{{root, false}};
    while (!stack.empty()) {
      const auto [node, opened] = stack.back();
      stack.pop_back();
      if (opened) {
        order_.push_back(node);
        continue;
      }
      if (!seen_.insert(node).second) continue;
      stack.emplace_back(node, true);
      const size_t first = stack.size();
      Dispatch(node, [&](const auto* exact) {
        ForEachField(exact, [&](auto field, const auto& value) {
          if (field.role == FieldRole::kType) return;
          ForEachChild(value, [&](const Node* child) {
            const NodeGroup group = GroupOf(child->kind);
            if (group != NodeGroup::kType && group != NodeGroup::kAttr) stack.emplace_back(child, false);
          });
        });
      });
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
    }
    return std::move(order_);
  }

 private:
  std::unordered_set<const Node*> seen_;
  std::vector<const Node*> order_;
};

void PostOrderVisit(const NodeRef& root, const py::object& visit) {
  for (const Node* node : Walk().PostOrder(root.node)) visit(ToPython(node, root.keep));
}

py::list PostOrderNodes(const NodeRef& root) {
  py::list nodes;
  for (const Node* node : Walk().PostOrder(root.node)) nodes.append(ToPython(node, root.keep));
  return nodes;
}

// The nodes in the fields of a node, in order.
py::list Children(const NodeRef& ref) {
  py::list children;
  Dispatch(ref.node, [&](const auto* exact) {
    ForEachField(exact, [&](auto field, const auto& value) {
      if (field.role == FieldRole::kType) return;
      ForEachChild(value, [&](const Node* child) {
        const NodeGroup group = GroupOf(child->kind);
        if (group != NodeGroup::kType && group != NodeGroup::kAttr) children.append(ToPython(child, ref.keep));
      });
    });
  });
  return children;
}

// The scalar variables that are used and not defined below a node, in order.
py::list FreePrimVars(const NodeRef& ref) {
  std::unordered_set<const Node*> defined;
  std::vector<const Node*> used;
  for (const Node* node : Walk().PostOrder(ref.node)) {
    if (Is<tir::Var>(node)) used.push_back(node);
    Dispatch(node, [&](const auto* exact) {
      ForEachField(exact, [&](auto field, const auto& value) {
        if (field.role != FieldRole::kDef) return;
        ForEachChild(value, [&](const Node* child) { defined.insert(child); });
      });
    });
  }
  py::list free;
  for (const Node* var : used) {
    if (!defined.contains(var)) free.append(ToPython(var, ref.keep));
  }
  return free;
}

std::vector<NodeRef> DefinedSymVars(const NodeRef& type) {
  std::vector<NodeRef> vars;
  ForEachDefinedSymVar(To<Type>(type.node), [&](const tir::Var* var) { vars.push_back({var, type.keep}); });
  return vars;
}

// The regions of buffers that a block reads and writes, and those of which it is unknown; with `states_all`, these are
// among both.
py::tuple BlockAccess(const NodeRef& block, const py::list& buffers, bool states_all) {
  Build build;
  build.Use(block.keep);
  BuffersByPointer known;
  for (py::handle item : buffers) {
    const auto* buffer = To<tir::Buffer>(ToNode(item, build));
    known.insert_or_assign(buffer->data, buffer);
  }
  const auto& node = *To<tir::Block>(block.node);
  const BlockAccesses found = states_all ? GetBlockReadWriteRegion(node, known, build.workspace())
                                         : GetBlockAccessRegion(node, known, build.workspace());
  const auto list = [&](const std::vector<const tir::BufferRegion*>& regions) {
    std::vector<py::object> items;
    items.reserve(regions.size());
    for (const tir::BufferRegion* region : regions) items.push_back(ToPython(build.Made(region)));
    return MakeArray(std::move(items));
  };
  return py::make_tuple(list(found.reads), list(found.writes), list(found.opaques));
}

// The innermost loop or block around all accesses to each buffer, or None, as (buffer, statement).
py::list ScopesOfBuffers(const NodeRef& func) {
  py::list scopes;
  const BufferScopes found = DetectBufferScopes(*To<PrimFunc>(func.node));
  for (const Node* node : Walk().PostOrder(func.node)) {
    const auto* buffer = As<tir::Buffer>(node);
    const auto* scope = buffer == nullptr ? nullptr : found.Find(buffer);
    if (scope != nullptr) scopes.append(py::make_tuple(ToPython(buffer, func.keep), ToPython(*scope, func.keep)));
  }
  return scopes;
}

// Tuples of the kind, the message, the place, the other place or None, and what happens there.
py::list Races(const NodeRef& func, uint64_t max_values, uint64_t solver_limit) {
  Build build;
  build.Use(func.keep);
  const std::shared_ptr<NodeStore> store = Session::Current()->store();
  py::list findings;
  for (const RaceFinding& finding : FindRaces(*To<PrimFunc>(func.node), {max_values, solver_limit}, store->workspace)) {
    static constexpr std::string_view kKinds[] = {"race", "divergent barrier", "not decided"};
    const bool has_other = finding.other != nullptr && finding.other != finding.at;
    findings.append(py::make_tuple(kKinds[static_cast<size_t>(finding.kind)], finding.message,
                                   ToPython(finding.at, func.keep),
                                   has_other ? ToPython(finding.other, func.keep) : py::object(py::none()),
                                   has_other ? finding.other_message : std::string()));
  }
  return findings;
}

// An analyzer with the facts that it was told. New nodes are in one store.
class PyAnalyzer {
 public:
  explicit PyAnalyzer(TextVersion version)
      : session_(Session::Current()),
        store_(session_->store()),
        analyzer_(arith::PrimBuilder(store_->workspace.arena(), version), arith::Analyzer::SymVars::kAny) {}

  template <class F>
  auto With(F&& f) {
    Build build(session_, store_);
    return f(build);
  }
  NodeRef Simplify(const NodeRef& ref, int steps) {
    return With([&](Build& build) { return build.Made(analyzer_.Simplify(Expr(ref, build), steps)); });
  }
  NodeRef CanonicalSimplify(const NodeRef& ref) {
    return With([&](Build& build) { return build.Made(analyzer_.CanonicalSimplify(Expr(ref, build))); });
  }
  NodeRef RewriteSimplify(const NodeRef& ref) {
    return With([&](Build& build) { return build.Made(analyzer_.RewriteSimplify(Expr(ref, build))); });
  }
  bool CanProve(const NodeRef& condition) {
    return With([&](Build& build) { return analyzer_.CanProve(Expr(condition, build)); });
  }
  void BindRange(const NodeRef& var, const NodeRef& min, const NodeRef& extent) {
    With([&](Build& build) { analyzer_.Bind(To<tir::Var>(Expr(var, build)), Expr(min, build), Expr(extent, build)); });
  }
  void Bind(const NodeRef& var, const NodeRef& value) {
    With([&](Build& build) { analyzer_.Bind(To<tir::Var>(Expr(var, build)), Expr(value, build)); });
  }
  // ---- Bounds; what is unbounded is int64's least and greatest value
  std::pair<int64_t, int64_t> Bound(const NodeRef& ref) {
    return With([&](Build& build) {
      const arith::IntBound bound = analyzer_.Bound(Expr(ref, build));
      return std::pair(bound.min, bound.max);
    });
  }
  void SetBound(const NodeRef& var, int64_t min, int64_t max) {
    With([&](Build& build) { analyzer_.bounds().SetBound(To<tir::Var>(Expr(var, build)), {min, max}); });
  }
  void SetModular(const NodeRef& var, int64_t coeff, int64_t base) {
    With([&](Build& build) { analyzer_.bounds().SetModular(To<tir::Var>(Expr(var, build)), {coeff, base}); });
  }
  std::pair<int64_t, int64_t> Modular(const NodeRef& ref) {
    return With([&](Build& build) {
      const arith::ModularSet set = analyzer_.bounds().Modular(Expr(ref, build));
      return std::pair(set.coeff, set.base);
    });
  }
  void SetExtensions(bool prove_transitively, bool and_of_ors, bool constrain_branches) {
    With([&](Build&) {
      analyzer_.set_extensions({.prove_transitively = prove_transitively,
                                .and_of_ors = and_of_ors,
                                .constrain_branches = constrain_branches});
    });
  }
  // The ends of the set of values while variables run from a least to a greatest value; None is unbounded.
  py::tuple IntSet(const NodeRef& ref, const py::list& domains) {
    return With([&](Build& build) { return Ends(arith::EvalSet(Expr(ref, build), Domains(domains, build), analyzer_), build); });
  }
  // The ends of the set of values of a variable for which a condition holds.
  py::tuple DeduceBound(const NodeRef& var, const NodeRef& condition, const py::list& hints, const py::list& relax) {
    return With([&](Build& build) {
      return Ends(arith::DeduceBound(To<tir::Var>(Expr(var, build)), Expr(condition, build), Domains(hints, build),
                                     Domains(relax, build), analyzer_),
                  build);
    });
  }
  // The coefficients of variables and the rest, or None if the expression is not linear in them.
  py::object LinearEquation(const NodeRef& ref, const py::list& variables) {
    return With([&](Build& build) -> py::object {
      std::vector<const tir::Var*> vars;
      for (py::handle var : variables) vars.push_back(To<tir::Var>(ToNode(var, build)));
      const auto found = arith::DetectLinearEquation(Expr(ref, build), vars, analyzer_);
      if (!found) return py::none();
      py::list coefficients;
      for (const PrimExpr* coefficient : *found) coefficients.append(ToPython(build.Made(coefficient)));
      return coefficients;
    });
  }
  void Push(const NodeRef& condition) {
    With([&](Build& build) {
      constraints_.push_back(std::make_unique<arith::Analyzer::Constraint>(analyzer_, Expr(condition, build)));
    });
  }
  void Pop() {
    if (!constraints_.empty()) constraints_.pop_back();
  }

 private:
  static arith::VarDomains Domains(const py::list& domains, Build& build) {
    arith::VarDomains vars;
    for (py::handle item : domains) {
      const auto parts = py::reinterpret_borrow<py::tuple>(item);
      vars.insert_or_assign(To<tir::Var>(ToNode(parts[0], build)),
                            arith::IntervalSet::Interval(ToPrim(parts[1], build), ToPrim(parts[2], build)));
    }
    return vars;
  }
  py::tuple Ends(const arith::IntervalSet& set, Build& build) {
    const auto end = [&](const PrimExpr* value) {
      return value == nullptr ? py::object(py::none()) : ToPython(build.Made(analyzer_.Simplify(value)));
    };
    return py::make_tuple(end(set.min()), end(set.max()), set.is_nothing());
  }
  static const PrimExpr* Expr(const NodeRef& ref, Build& build) {
    build.Use(ref.keep);
    const auto* prim = As<PrimExpr>(ref.node);
    if (prim == nullptr) throw py::type_error("expected a scalar expression");
    return prim;
  }

  std::shared_ptr<Session> session_;
  std::shared_ptr<NodeStore> store_;
  arith::Analyzer analyzer_;
  std::vector<std::unique_ptr<arith::Analyzer::Constraint>> constraints_;
};

}  // namespace

void AddAnalyses(py::module_& m) {
  m.def("post_order_visit", &PostOrderVisit);
  m.def("post_order", &PostOrderNodes);
  py::class_<PyAnalyzer>(m, "Analyzer")
      .def(py::init([](std::string_view version) { return std::make_unique<PyAnalyzer>(ToVersion(version)); }))
      .def("simplify", &PyAnalyzer::Simplify)
      .def("canonical_simplify", &PyAnalyzer::CanonicalSimplify)
      .def("rewrite_simplify", &PyAnalyzer::RewriteSimplify)
      .def("can_prove", &PyAnalyzer::CanProve)
      .def("bind_range", &PyAnalyzer::BindRange)
      .def("bind", &PyAnalyzer::Bind)
      .def("bound", &PyAnalyzer::Bound)
      .def("set_bound", &PyAnalyzer::SetBound)
      .def("modular", &PyAnalyzer::Modular)
      .def("set_modular", &PyAnalyzer::SetModular)
      .def("set_extensions", &PyAnalyzer::SetExtensions)
      .def("int_set", &PyAnalyzer::IntSet)
      .def("deduce_bound", &PyAnalyzer::DeduceBound)
      .def("linear_equation", &PyAnalyzer::LinearEquation)
      .def("push", &PyAnalyzer::Push)
      .def("pop", &PyAnalyzer::Pop);
  m.def("children", &Children);
  m.def("block_access", &BlockAccess);
  m.def("scopes_of_buffers", &ScopesOfBuffers);
  m.def("races", &Races);
  m.def("free_vars", &FreePrimVars);
  m.def("defined_sym_vars", &DefinedSymVars);
  m.def("type_lca", [](const NodeRef& a, const NodeRef& b) {
    Build build;
    build.Use(a.keep);
    build.Use(b.keep);
    return build.Made(TypeLCA(To<Type>(a.node), To<Type>(b.node), build.arena()));
  });
  m.def("is_base_of", [](const NodeRef& base, const NodeRef& derived) {
    return IsBaseOf(To<Type>(base.node), To<Type>(derived.node));
  });
  m.def("func_types_equal", [](const NodeRef& a, const NodeRef& b) {
    return FuncTypeAlphaEqual(To<FuncType>(a.node), To<FuncType>(b.node));
  });
  m.def("type_base_check", [](const NodeRef& base, const NodeRef& derived) {
    return static_cast<int>(TypeBaseCheck(To<Type>(base.node), To<Type>(derived.node)));
  });
  m.def("is_impure_call", [](const NodeRef& call) { return IsImpureCall(To<Expr>(call.node), nullptr); });
  m.def("has_reshape_pattern", [](const NodeRef& func) { return HasReshapePattern(*To<PrimFunc>(func.node)); });
}

}  // namespace iropt::python
