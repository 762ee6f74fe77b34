// Makes a function of some bindings of a dataflow block.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"

namespace iropt {

// An argument of the call of the new function: an expression of the old one, or an item of the tuple that it is.
struct FusedArgument {
  const Expr* expr = nullptr;
  int32_t item = -1;
};

struct FusedFunction {
  const Function* function = nullptr;
  FuncStorageRef storage = {};
  std::string name = {};
  std::vector<FusedArgument> args = {};
  // Symbolic variables that no other argument defines; if there are any, a shape of them is the last argument.
  std::vector<const tir::Var*> sym_vars = {};
};

// Variables that are bound to scalars, shapes or tuples of these whose values are known, and these.
using KnownValues = std::unordered_map<const Var*, const Expr*>;

// Those of a function, also under further names of a variable. O(nodes).
KnownValues KnownValuesOf(const Function& function);

// Collects bindings of variables to calls and projections, in order. Their operands that are bound elsewhere become
// parameters; a tuple of which only items are used becomes as many parameters. Constants, shapes and scalars become
// parameters, too, unless the options say otherwise or they are known.
class FunctionCreator {
 public:
  // Without `lift_constants`, the new function contains the constants that it uses. It contains the values of the
  // variables in `known`, which outlives this. Since TVM 0.22, a tuple that is an operand of an operator is a parameter
  // for each field.
  FunctionCreator(bool lift_constants, const KnownValues& known, TextVersion version)
      : lift_constants_(lift_constants), splits_tuples_(version >= TextVersion::kV0_22), known_(known) {}

  void Append(const VarBinding* binding);
  // States that a variable bound here is used elsewhere.
  void AddOutput(const Var* var);
  // The results of the function in order: a tuple if there is more than one.
  const std::vector<const Var*>& outputs() const { return outputs_; }
  const std::vector<const VarBinding*>& bindings() const { return bindings_; }

  // The private function with these attributes. There is at least one output. O(size of the bindings).
  FusedFunction Create(const DictAttr* attrs) const;

 private:
  class Body;
  struct Parameter {
    const Expr* arg = nullptr;
    std::string name = {};
    bool only_items = false;          // a tuple that is used only by projections
    std::vector<int32_t> items = {};  // these, in order, each once
  };

  void AppendName(const Expr* callee);
  // Makes an operand a parameter unless it is bound here or is one already. Null if it is not a parameter.
  Parameter* Use(const Expr* operand);
  // Makes an operand a parameter as Use does; one that is a tuple is used as a whole.
  void UseWhole(const Expr* operand);
  // The same for an operand of an operator.
  void UseOfOperator(const Expr* operand);

  const bool lift_constants_;
  const bool splits_tuples_;
  const KnownValues& known_;
  std::string name_ = "fused";
  std::vector<const VarBinding*> bindings_;
  std::unordered_set<const Var*> bound_;
  std::vector<const Var*> outputs_;
  LookupSet<const Var*> is_output_;
  std::vector<Parameter> params_;
  std::unordered_map<const Expr*, size_t> param_of_;  // indices in params_
  int num_unnamed_ = 0;
};

}  // namespace iropt
