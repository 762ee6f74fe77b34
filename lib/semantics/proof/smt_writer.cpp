#include "semantics/proof/smt_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/unary.h"
#include "iropt/support/stack.h"

namespace iropt::proof {

namespace {

// The operands, combined from the left.
std::string Fold(std::string_view op, const std::vector<std::string>& args) {
  std::string text = args[0];
  for (size_t i = 1; i < args.size(); ++i) text = fmt::format("({} {} {})", op, text, args[i]);
  return text;
}

std::string Choose(std::string_view condition, std::string_view a, std::string_view b) {
  return fmt::format("(ite {} {} {})", condition, a, b);
}

}  // namespace

std::string SmtWriter::Sort(DataType dtype) {
  if (dtype.is_bool()) return "Bool";
  if (dtype.is_integer()) return fmt::format("(_ BitVec {})", dtype.bits);
  if (IsReal(dtype)) return "Real";
  std::string name = "sort_" + dtype.ToString();
  if (std::ranges::find(sorts_, name) == sorts_.end()) {
    sorts_.push_back(name);
    fmt::format_to(std::back_inserter(script_), "(declare-sort {} 0)\n", name);
  }
  return name;
}

std::string SmtWriter::Unknown(DataType dtype, const void* key) {
  std::string& name = unknown_[key];
  if (name.empty()) {
    const std::string sort = Sort(dtype);
    name = fmt::format("u{}", unknown_.size());
    fmt::format_to(std::back_inserter(script_), "(declare-fun {} () {})\n", name, sort);
  }
  return name;
}

std::string SmtWriter::Number(const Term* term) {
  const DataType dtype = term->dtype;
  if (dtype.is_bool()) return term->number != 0 ? "true" : "false";
  if (dtype.is_integer()) {
    const uint64_t mask = dtype.bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << dtype.bits) - 1;
    return fmt::format("(_ bv{} {})", static_cast<uint64_t>(term->number) & mask, dtype.bits);
  }
  const auto value = IsReal(dtype) ? terms_.ValueOf(term) : std::nullopt;
  if (!value || !std::isfinite(*value) || std::abs(*value) > 1e15 || (*value != 0 && std::abs(*value) < 1e-15))
    return Unknown(dtype, term);
  const std::string text = fmt::format("{:.20f}", std::abs(*value));
  return *value < 0 ? fmt::format("(- {})", text) : text;
}

std::string SmtWriter::Write(const Term* term) {
  if (const std::string* known = names_.Find(term)) return *known;
  std::string text = WithStack([&] { return Form(term); });
  if (text.starts_with('(') && !text.starts_with("(_")) {
    const std::string sort = Sort(term->dtype);
    const std::string name = fmt::format("e{}", names_.size());
    fmt::format_to(std::back_inserter(script_), "(define-fun {} () {} {})\n", name, sort, text);
    text = name;
  }
  names_[term] = text;
  return text;
}

std::string SmtWriter::Form(const Term* term) {
  switch (term->kind) {
    case TermKind::kNumber: return Number(term);
    case TermKind::kSelect: {
      const std::string condition = Unknown(DataType::Bool(), term->indices[0]);
      return Choose(condition, Write(term->args[0]), Write(term->args[1]));
    }
    case TermKind::kApply: return Apply(term);
    default: return Unknown(term->dtype, term);
  }
}

std::string SmtWriter::Function(const Term* term, const std::vector<std::string>& args) {
  // Numbers with and without a sign have one sort.
  std::string key = fmt::format("{} {} {}", static_cast<int>(term->op), static_cast<const void*>(term->attrs),
                                term->dtype.ToString());
  std::string sorts;
  for (const Term* arg : term->args) {
    sorts += Sort(arg->dtype) + " ";
    key += " " + arg->dtype.ToString();
  }
  auto found = std::ranges::find(functions_, key, [](const auto& entry) { return entry.first; });
  if (found == functions_.end()) {
    const std::string name = fmt::format("f{}", functions_.size());
    fmt::format_to(std::back_inserter(script_), "(declare-fun {} ({}) {})\n", name, sorts, Sort(term->dtype));
    functions_.emplace_back(key, name);
    found = std::prev(functions_.end());
  }
  std::string text = "(" + found->second;
  for (const std::string& arg : args) text += " " + arg;
  return text + ")";
}

std::string SmtWriter::Apply(const Term* term) {
  std::vector<std::string> args;
  for (const Term* arg : term->args) args.push_back(Write(arg));
  std::string text;
  const bool same_dtype =
      std::ranges::all_of(term->args, [&](const Term* arg) { return arg->dtype == term->args[0]->dtype; });
  const DataType from = term->args[0]->dtype;
  if (term->op == op::kWhere && from.is_bool() && args.size() == 3) return Choose(args[0], args[1], args[2]);
  if (term->op == op::kAstype) {
    text = Convert(term, args[0]);
  } else if (same_dtype && term->dtype.is_bool()) {
    text = Comparison(term, args);
  } else if (same_dtype && from == term->dtype && from.is_integer()) {
    text = Integers(term, args);
  } else if (same_dtype && from == term->dtype && IsReal(from)) {
    text = Reals(term, args);
  }
  return text.empty() ? Function(term, args) : text;
}

std::string SmtWriter::Comparison(const Term* term, const std::vector<std::string>& args) {
  const DataType from = term->args[0]->dtype;
  if (from.is_bool()) {
    switch (term->op) {
      case op::kLogicalAnd: return Fold("and", args);
      case op::kLogicalOr: return Fold("or", args);
      case op::kLogicalXor: return Fold("xor", args);
      case op::kLogicalNot: return fmt::format("(not {})", args[0]);
      case op::kEqual: return Fold("=", args);
      case op::kNotEqual: return Fold("xor", args);
      default: return {};
    }
  }
  const bool is_real = IsReal(from);
  if (args.size() != 2 || (!from.is_integer() && !is_real)) return {};
  const std::string_view prefix = is_real ? "" : from.is_int() ? "bvs" : "bvu";
  const auto order = [&](std::string_view real, std::string_view bits) {
    return fmt::format("({}{} {} {})", prefix, is_real ? real : bits, args[0], args[1]);
  };
  switch (term->op) {
    case op::kEqual: return Fold("=", args);
    case op::kNotEqual: return fmt::format("(not (= {} {}))", args[0], args[1]);
    case op::kLess: return order("<", "lt");
    case op::kLessEqual: return order("<=", "le");
    case op::kGreater: return order(">", "gt");
    case op::kGreaterEqual: return order(">=", "ge");
    default: return {};
  }
}

std::string SmtWriter::Integers(const Term* term, const std::vector<std::string>& args) {
  const bool has_sign = term->dtype.is_int();
  const std::string zero = fmt::format("(_ bv0 {})", term->dtype.bits);
  const std::string one = fmt::format("(_ bv1 {})", term->dtype.bits);
  const std::string_view less = has_sign ? "bvslt" : "bvult";
  const std::string is_negative = has_sign ? fmt::format("(bvslt {} {})", args[0], zero) : "false";
  switch (term->op) {
    case op::kAdd: return Fold("bvadd", args);
    case op::kSubtract: return Fold("bvsub", args);
    case op::kMultiply: return Fold("bvmul", args);
    case op::kNegative: return fmt::format("(bvneg {})", args[0]);
    case op::kBitwiseAnd: return Fold("bvand", args);
    case op::kBitwiseOr: return Fold("bvor", args);
    case op::kBitwiseXor: return Fold("bvxor", args);
    case op::kBitwiseNot: return fmt::format("(bvnot {})", args[0]);
    case op::kMaximum: return Choose(fmt::format("({} {} {})", less, args[1], args[0]), args[0], args[1]);
    case op::kMinimum: return Choose(fmt::format("({} {} {})", less, args[0], args[1]), args[0], args[1]);
    case op::kAbs: return Choose(is_negative, fmt::format("(bvneg {})", args[0]), args[0]);
    case op::kNnRelu: return Choose(is_negative, zero, args[0]);
    case op::kSign:
      return Choose(is_negative, fmt::format("(bvneg {})", one),
                    Choose(fmt::format("(= {} {})", args[0], zero), zero, one));
    default: return {};
  }
}

// Of finite numbers, the orders are those of reals.
std::string SmtWriter::Reals(const Term* term, const std::vector<std::string>& args) {
  switch (term->op) {
    case op::kAdd: return Fold("+", args);
    case op::kSubtract: return Fold("-", args);
    case op::kMultiply: return Fold("*", args);
    case op::kNegative: return fmt::format("(- {})", args[0]);
    case op::kMaximum: return Choose(fmt::format("(< {} {})", args[1], args[0]), args[0], args[1]);
    case op::kMinimum: return Choose(fmt::format("(< {} {})", args[0], args[1]), args[0], args[1]);
    case op::kAbs: return Choose(fmt::format("(< {} 0.0)", args[0]), fmt::format("(- {})", args[0]), args[0]);
    case op::kNnRelu: return Choose(fmt::format("(< {} 0.0)", args[0]), "0.0", args[0]);
    default: return {};
  }
}

std::string SmtWriter::Convert(const Term* term, const std::string& arg) {
  const DataType from = term->args[0]->dtype;
  const DataType to = term->dtype;
  if (!from.is_integer() || !to.is_integer()) return {};
  if (from.is_bool()) return Choose(arg, fmt::format("(_ bv1 {})", to.bits), fmt::format("(_ bv0 {})", to.bits));
  if (to.is_bool()) return fmt::format("(not (= {} (_ bv0 {})))", arg, from.bits);
  if (to.bits <= from.bits) return fmt::format("((_ extract {} 0) {})", to.bits - 1, arg);
  return fmt::format("((_ {} {}) {})", from.is_int() ? "sign_extend" : "zero_extend", to.bits - from.bits, arg);
}

}  // namespace iropt::proof
