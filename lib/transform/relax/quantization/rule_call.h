// The application of a rule of integer_rules.h to an operator: its operands, and how to make expressions.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "affine_type.h"
#include "iropt/infer/py_value.h"
#include "iropt/infer/relay_operators.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/op/op_id.h"

namespace iropt {

// A value of the integer program: a quantized tensor, a tuple of such, or, without types, what stays as it is.
struct IntegerValue {
  const Expr* expr = nullptr;
  std::vector<AffineType> types = {};

  bool is_quantized() const { return !types.empty(); }
};

// Context that the operators of a region share.
struct RegionContext {
  BlockBuilder& builder;
  const Module& module;
  const RelayOperators& relay;
  DiagnosticEngine& diagnostics;  // of the builder, too
  // The type of the quantization that the region leads to; nothing for an operator by itself.
  std::optional<AffineType> out = {};
};

// A call that a rule computes on integers. Functions that make an expression return null if they cannot, and for a null
// operand.
class RuleCall {
 public:
  RuleCall(RegionContext& context, const Call& call, std::vector<IntegerValue> operands, bool is_last)
      : context_(context), call_(call), operands_(std::move(operands)), is_last_(is_last) {}

  // The operator as it is in the function.
  const Call& call() const { return call_; }
  // Its operands in the integer program; nothing for one that is not a tensor or a tuple of tensors.
  const IntegerValue& operand(size_t i) const;
  const Expr* expr(size_t i) const { return operand(i).expr; }
  // The type of a quantized tensor; null after a report for other operands.
  const AffineType* type(size_t i);
  // The type at the end of the region, for results whose type does not follow from the operands; null after a report.
  const AffineType* out_type();
  // Returns whether the result is quantized as it is.
  bool is_last() const { return is_last_; }

  // ---- Expressions
  // Builds an operator of Relay.
  const Expr* Relay(std::string_view name, std::initializer_list<const Expr*> args,
                    std::initializer_list<PyKeyword> attributes = {});
  const Expr* Make(OpId op, std::initializer_list<const Expr*> args);
  // The call with other first arguments.
  const Expr* With(std::initializer_list<const Expr*> args);
  const Expr* Tuple(std::span<const Expr* const> fields);
  const Expr* Cast(const Expr* data, DataType dtype);
  // To the dtype of `to`, or another one.
  const Expr* Requantize(const Expr* data, const AffineType& from, const AffineType& to,
                         std::optional<DataType> out_dtype = {});
  const Expr* Quantize(const Expr* data, const AffineType& to, int64_t axis = -1);
  // The product of two scales; a constant if both are constants.
  const Expr* Product(const Expr* a, const Expr* b);

  // ---- Attributes of Relay's operators
  static PyKeyword Attribute(std::string_view name, const PyValue& value) { return {name, {}, value}; }
  PyKeyword Attribute(std::string_view name, std::span<const int64_t> values) { return {name, {}, Ints(values)}; }
  PyKeyword Attribute(std::string_view name, std::string_view text);
  PyValue Ints(std::span<const int64_t> values);

  Workspace& workspace() { return context_.builder.workspace(); }
  // Reports why the rule does not apply.
  std::nullopt_t Fail(std::string message);

 private:
  RegionContext& context_;
  const Call& call_;
  std::vector<IntegerValue> operands_;
  bool is_last_;
};

}  // namespace iropt
