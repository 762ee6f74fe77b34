// Writes the body of a Relax function, binding by binding, and knows the variables in scope.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "choices.h"
#include "module_writer.h"
#include "types.h"

namespace iropt::generate {

class BodyWriter {
 public:
  // Of main, or of a private function, which does not print and whose result has only sizes of its parameters.
  BodyWriter(ModuleWriter& module, std::vector<Value> params, bool is_main)
      : module_(module), values_(std::move(params)), is_main_(is_main) {}

  ModuleWriter& module() { return module_; }
  Choices& choices() { return module_.choices(); }
  const std::string& text() const { return text_; }
  using Filter = std::function<bool(const Value&)>;
  // A random variable in scope, recent ones more often. Null if none passes the filter; valid until the next binding.
  const Value* Find(const Filter& filter);
  const Value* Any() {
    return Find([](const Value&) { return true; });
  }

  // Binds a new variable.
  Value Bind(const std::string& expr, Type type, Traits traits);
  // The same for a result that is not used again but by its name.
  std::string BindHidden(const std::string& expr);
  void Line(const std::string& text);
  std::string NewName() { return fmt::format("v{}", module_.NewId()); }
  void Add(Value value) { values_.push_back(std::move(value)); }

  // A new variable of scalar bool type that does not depend on rounding.
  std::string Condition();
  // Writes about that many bindings, in blocks.
  void WriteBlocks(int num_bindings);
  // The result: one variable or a tuple of several. Writes the return.
  Type Return();

 private:
  void WriteDataflowBlock(int num_bindings);
  void WriteBinding();
  void WriteIf();
  void WriteClosure();
  void WriteMatchCast();
  void WritePrint();

  ModuleWriter& module_;
  std::vector<Value> values_;
  bool is_main_;
  int indent_ = 2;
  bool is_nested_ = false;  // in a branch or in a function inside the function
  std::string text_ = {};
};

// Writes a binding with a random operator or call; false if none of its kind applies to what is in scope.
bool WriteOperator(BodyWriter& body);
// Writes another value of the type of this variable.
Value WriteSameType(BodyWriter& body, const Value& value);

}  // namespace iropt::generate
