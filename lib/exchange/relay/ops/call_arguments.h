// The call of an operator in the text: its arguments and attributes, and what is wrong with them.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/relay/graph.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/infer/py_value.h"
#include "iropt/op/op_attrs.h"

namespace iropt::relay {

struct Operator;
struct OperatorRow;

using Ints = std::vector<int64_t>;
// A list of integers that an attribute may lack.
using OptInts = op_attrs::Value<AttrKind::kOptIntList>;

class CallArguments {
 public:
  CallArguments(const OperatorCall& call, SourceSpan name_span, std::span<const Expr* const> args,
                DiagnosticEngine& diagnostics);

  // Returns whether the operator takes so many arguments and these attributes. Reports what is wrong.
  bool Check();

  const OperatorRow& row() const;
  std::span<const Expr* const> args() const { return args_; }
  size_t num_args() const { return args_.size(); }
  const Expr* arg(size_t i) const { return args_[i]; }
  const Type* type(size_t i) const { return args_[i]->type; }
  // The value in the text, or the default. Those with a type report values of other kinds, and give 0 or nothing.
  const PyValue& attr(std::string_view name) const;
  bool has(std::string_view name) const { return !attr(name).is(PyValue::Kind::kNone); }  // not None
  int64_t Int(std::string_view name) const;
  double Float(std::string_view name) const;
  bool Bool(std::string_view name) const;
  std::string_view String(std::string_view name) const;
  relay::Ints Ints(std::string_view name) const;        // also of a single number; None gives none
  relay::Ints NestedInts(std::string_view name) const;  // those of all lists in a list, as in [[0, 0], [1, 1]]
  // As many as there are: one stands for copies of it, and half of them, for a list of both ends, for them twice.
  relay::Ints IntsOf(std::string_view name, size_t count, bool both_ends = false) const;
  DataType Dtype(std::string_view name) const;              // void for the empty string
  std::vector<double> Floats(std::string_view name) const;  // also of a single number; None gives none
  op_attrs::Value<AttrKind::kOptInt> OptInt(std::string_view name) const;
  // The axis, counted from the end if it is negative; nothing after an error.
  std::optional<int64_t> Axis(int64_t axis, int rank);

  // ---- Limits, as a text may name any number. The error says that the expansion is too large.
  // Returns whether an expansion may have that many operators: the product of the counts.
  bool MayRepeat(std::initializer_list<int64_t> counts) { return IsWithin(counts, 1 << 14); }
  // Returns whether a constant of an expansion may have that many elements.
  bool MayTabulate(std::initializer_list<int64_t> counts) { return IsWithin(counts, 1 << 26); }

  // ---- Errors. All return null.
  const Expr* Error(DiagId kind, std::string message);
  // Relax has nothing that does the same.
  const Expr* NoCounterpart(std::string_view what);

  // Returns whether a value of another kind was reported.
  bool has_wrong_kind() const { return has_wrong_kind_; }
  SourceSpan name_span() const { return name_span_; }
  DiagnosticEngine& diagnostics() const { return diagnostics_; }

 private:
  bool IsWithin(std::initializer_list<int64_t> counts, int64_t limit);
  bool CheckName(const Attribute& attribute) const;
  // Reports that the attribute is not what the operator takes, once for a call.
  void WrongKind(std::string_view name, std::string_view expected) const;

  const Operator& op_;
  const OperatorCall& call_;
  const SourceSpan name_span_;
  std::span<const Expr* const> args_;
  DiagnosticEngine& diagnostics_;
  mutable bool has_wrong_kind_ = false;
};

}  // namespace iropt::relay
