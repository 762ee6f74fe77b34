#include "iropt/analysis/relax/free_vars.h"

#include "iropt/ir/relax/type_walk.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// Items in the order in which they were first added.
template <class T>
class OrderedSet {
 public:
  bool Add(const T* item) {
    if (!seen_.insert(item)) return false;
    items_.push_back(item);
    return true;
  }
  std::vector<const T*> Take() && { return std::move(items_); }

 private:
  LookupSet<const T*> seen_;
  std::vector<const T*> items_;
};

// Variables by their dense id, which is unique within the function.
class VarMarks {
 public:
  // Returns whether the variable was not marked yet.
  bool Mark(const Var* var) {
    if (var->id >= marks_.size()) marks_.resize(var->id + var->id / 2 + 16, false);
    if (marks_[var->id]) return false;
    return marks_[var->id] = true;
  }

 private:
  std::vector<bool> marks_;
};

struct FreeVarFinder : WalkHandler {
  VarMarks known;  // defined or found already: definitions come before uses
  std::vector<const Var*> free;
  void OnDefine(const Var* var) { known.Mark(var); }
  void OnUse(const Var* var) {
    if (known.Mark(var)) free.push_back(var);
  }
  void OnType(const Type* type) {
    ForEachShapeVar(type, [&](const Var* var) { OnUse(var); });
  }
};

struct GlobalFinder : WalkHandler {
  OrderedSet<GlobalVar> globals;
  void OnGlobal(const GlobalVar* var) { globals.Add(var); }
};

struct FreeSymVarFinder : WalkHandler {
  LookupSet<const tir::Var*> known;
  std::vector<const tir::Var*> free;

  void OnDefiningType(const Type* type) {
    for (const tir::Var* var : DefinedSymVars(type)) known.insert(var);
  }
  void OnScalar(const PrimExpr* e) {
    tir::ForEachVar(e, [&](const tir::Var* var) {
      if (known.insert(var)) free.push_back(var);
    });
  }
  void OnType(const Type* type) {
    if (!type->has_sym_var()) return;
    if (type->kind == NodeKind::kFuncType) return;  // scopes over its own variables
    ForEachScalar(type, false, [&](const PrimExpr* e) { OnScalar(e); });
  }
};

struct BoundSymVarFinder : WalkHandler {
  OrderedSet<tir::Var> vars;

  void OnDefiningType(const Type* type) {
    for (const tir::Var* var : DefinedSymVars(type)) vars.Add(var);
  }
};

}  // namespace

std::vector<const Var*> FreeVars(const Expr* e) {
  FreeVarFinder finder;
  Walk(e, finder);
  return std::move(finder.free);
}

std::vector<const GlobalVar*> UsedGlobals(const Expr* e) {
  GlobalFinder finder;
  Walk(e, finder);
  return std::move(finder.globals).Take();
}

std::vector<const tir::Var*> FreeSymVars(const Expr* e) {
  FreeSymVarFinder finder;
  Walk(e, finder);
  return std::move(finder.free);
}

std::vector<const tir::Var*> BoundSymVars(const Expr* e) {
  BoundSymVarFinder finder;
  Walk(e, finder);
  return std::move(finder.vars).Take();
}

std::vector<const tir::Var*> SymVarsOf(const PrimExpr* e) {
  OrderedSet<tir::Var> vars;
  tir::ForEachVar(e, [&](const tir::Var* var) { vars.Add(var); });
  return std::move(vars).Take();
}

std::vector<const tir::Var*> SymVarsOf(const Type* type) {
  OrderedSet<tir::Var> vars;
  ForEachScalar(type, true,
                [&](const PrimExpr* e) { tir::ForEachVar(e, [&](const tir::Var* var) { vars.Add(var); }); });
  return std::move(vars).Take();
}

std::vector<const tir::Var*> DefinedSymVars(const Type* type) {
  OrderedSet<tir::Var> vars;
  ForEachScalar(type, false, [&](const PrimExpr* e) {
    if (const auto* var = As<tir::Var>(e)) vars.Add(var);
  });
  return std::move(vars).Take();
}

}  // namespace iropt
