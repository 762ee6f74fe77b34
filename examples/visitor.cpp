// Visitors walk over code and collect facts. An ExprVisitor visits everything below an expression; override the
// functions of interest, and call the function of the base class to visit the operands.
#include "iropt/ir/relax/visitor.h"

#include <iostream>

#include "iropt/driver/compiler_instance.h"

using namespace iropt;

constexpr const char* kModule = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
        if c:
            y = R.nn.relu(x)
        else:
            y = x
        return y
    @R.function
    def identity(x: R.Tensor((2, 3), "float32")):
        return x
)";

// VisitExpr comes before every expression, of whatever kind.
class PrintVisitor : public ExprVisitor {
 public:
  void VisitExpr(const Expr* expr) override {
    std::cout << std::string(2 * depth_, ' ') << NodeKindName(expr->kind) << "\n";
    ++depth_;
    ExprVisitor::VisitExpr(expr);  // calls the Visit function of the kind
    --depth_;
  }

 private:
  size_t depth_ = 0;
};

// Returns whether the expression contains a call.
class CallChecker : public ExprVisitor {
 public:
  bool Check(const Expr* expr) {
    found_ = false;
    VisitExpr(expr);
    return found_;
  }

 protected:
  void VisitCall(const Call*) override { found_ = true; }  // no need to look below

 private:
  bool found_ = false;
};

Status Run(CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const Module module, compiler.ParseModule(kModule));
  PrintVisitor().VisitExpr(module.Find("main")->func);
  for (const ModuleEntry& entry : module.functions()) {
    std::cout << entry.var->name << (CallChecker().Check(entry.func) ? " has calls\n" : " has no calls\n");
  }
  return {};
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   Function
//     SeqExpr
//       If
//         Var
//         SeqExpr
//           Call
//             Op
//             Var
//           Var
//         SeqExpr
//           Var
//       Var
//   main has calls
//   identity has no calls
