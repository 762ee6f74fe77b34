// The size of the text of a module's types.
#include <fmt/format.h>

#include "iropt/infer/print/type_printer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

// Types of this size are left out of the count: it is nesting that makes text explode, not the number of bindings.
constexpr uint32_t kSmallType = 1024;

// Counts the parts of the annotations of one function, up to the limit.
class TypeSizeCounter : public WalkHandler {
 public:
  bool exceeded() const { return left_ < 0; }
  // The binding that the walk had reached when the limit was exceeded; null in the signature.
  const Var* var() const { return var_; }

  void OnBinding(const Binding& binding) {
    if (!exceeded()) var_ = binding.var;
  }
  void OnType(const Type* type) {
    if (type && type->tree_size > kSmallType) left_ -= type->tree_size;
  }

 private:
  int64_t left_ = TypePrinter::kMostTypes;
  const Var* var_ = nullptr;
};

}  // namespace

bool CheckTextSize(const Module& module, DiagnosticEngine& diagnostics) {
  for (const ModuleEntry& entry : module.functions()) {
    const auto* function = As<Function>(entry.func);
    if (!function) continue;
    TypeSizeCounter counter;
    Walk(*function, counter);
    if (!counter.exceeded()) continue;
    const Var* var = counter.var();
    const std::string what = var ? fmt::format("the type of variable '{}'", var->name()) : "the signature";
    diagnostics.Error(var ? Location(*var) : Location(*function), "budget",
                      fmt::format("the text of function '{}' is too long: with {} its annotations consist of more than "
                                  "{} types, written out",
                                  entry.var->name, what, TypePrinter::kMostTypes));
    return false;
  }
  return true;
}

}  // namespace iropt
