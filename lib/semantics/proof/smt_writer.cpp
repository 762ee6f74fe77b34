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

// The greater or the lesser one of two floats in their format; a NaN if there is one.
std::string Extremum(bool is_greatest, std::string_view a, std::string_view b) {
  const std::string is_b = fmt::format("(or (fp.isNaN {}) ({} {} {}))", b, is_greatest ? "fp.lt" : "fp.gt", a, b);
  return Choose(fmt::format("(fp.isNaN {})", a), a, Choose(is_b, b, a));
}

// The widths of the exponent and of the significand, with its hidden bit; empty for other formats.
std::string FormatOf(DataType dtype) {
  if (dtype == DataType::Float(16)) return "5 11";
  if (dtype == DataType::Float(32)) return "8 24";
  if (dtype == DataType::Float(64)) return "11 53";
  return {};
}

}  // namespace

bool SmtWriter::IsOfFormat(DataType dtype) const { return !IsReal(dtype) && !FormatOf(dtype).empty(); }

std::string SmtWriter::Sort(DataType dtype) {
  if (dtype.is_bool()) return "Bool";
  if (dtype.is_integer()) return fmt::format("(_ BitVec {})", dtype.bits);
  if (IsReal(dtype)) return "Real";
  if (const std::string format = FormatOf(dtype); !format.empty()) return fmt::format("(_ FloatingPoint {})", format);
  std::string name = "psort_" + dtype.ToString();
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
    name = fmt::format("pu{}", unknown_.size());
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
  if (const std::string format = FormatOf(dtype); !format.empty() && !IsReal(dtype))
    return fmt::format("((_ to_fp {}) (_ bv{} {}))", format, static_cast<uint64_t>(term->number), dtype.bits);
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
    const std::string name = fmt::format("pe{}", names_.size());
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
      const std::string condition = WriteIndex(term->indices[0]);
      return Choose(condition, Write(term->args[0]), Write(term->args[1]));
    }
    case TermKind::kRead: return numbers_.contains(term) ? Unknown(term->dtype, term) : Read(term);
    // That an operator fails is not its value.
    case TermKind::kApply: return term->text.empty() ? Apply(term) : Unknown(term->dtype, term);
    default: return Unknown(term->dtype, term);
  }
}

std::string SmtWriter::WriteIndex(const PrimExpr* index) {
  // What is assumed is asserted for the variables of an index once.
  if (assumed_.insert(index)) terms_.indices().Assume(index, indices_);
  return indices_.Write(index);
}

std::string SmtWriter::Read(const Term* term) {
  std::string& tensor = tensors_[representative_(term->args[0])];
  if (tensor.empty()) {
    const std::string sort = Sort(term->dtype);
    std::string sorts;
    for (size_t i = 0; i < term->indices.size(); ++i) sorts += "Int ";
    tensor = fmt::format("pt{}", tensors_.size());
    fmt::format_to(std::back_inserter(script_), "(declare-fun {} ({}) {})\n", tensor, sorts, sort);
  }
  if (term->indices.empty()) return tensor;
  std::string text = "(" + tensor;
  for (const PrimExpr* index : term->indices) text += " " + WriteIndex(index);
  return text + ")";
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
    const std::string name = fmt::format("pf{}", functions_.size());
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
  if (term->op == op::kClip && from == term->dtype && from.is_integer() && !from.is_bool()) {
    text = Clip(term, args[0]);
  } else if (term->op == op::kAstype) {
    text = Convert(term, args[0]);
  } else if (same_dtype && term->dtype.is_bool()) {
    text = Comparison(term, args);
  } else if (same_dtype && from == term->dtype && from.is_integer()) {
    text = Integers(term, args);
  } else if (same_dtype && from == term->dtype && IsReal(from)) {
    text = Reals(term, args);
  } else if (from == term->dtype && IsOfFormat(from)) {
    text = Choices(term, args);
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
  const bool is_real = IsReal(from), is_of_format = IsOfFormat(from);
  if (args.size() != 2 || (!from.is_integer() && !is_real && !is_of_format)) return {};
  const std::string_view prefix = is_real ? "" : is_of_format ? "fp." : from.is_int() ? "bvs" : "bvu";
  const auto order = [&](std::string_view real, std::string_view bits) {
    const std::string_view fp = bits == "le" ? "leq" : bits == "ge" ? "geq" : bits;
    return fmt::format("({}{} {} {})", prefix, is_real ? real : is_of_format ? fp : bits, args[0], args[1]);
  };
  const std::string_view equal = is_of_format ? "fp.eq" : "=";
  switch (term->op) {
    case op::kEqual: return Fold(equal, args);
    case op::kNotEqual: return fmt::format("(not ({} {} {}))", equal, args[0], args[1]);
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
    // Where these fail does not matter.
    case op::kDivide: return fmt::format("({} {} {})", has_sign ? "bvsdiv" : "bvudiv", args[0], args[1]);
    case op::kMod: return fmt::format("({} {} {})", has_sign ? "bvsrem" : "bvurem", args[0], args[1]);
    case op::kFloorMod: return fmt::format("({} {} {})", has_sign ? "bvsmod" : "bvurem", args[0], args[1]);
    case op::kLeftShift: return fmt::format("(bvshl {} {})", args[0], args[1]);
    case op::kRightShift: return fmt::format("({} {} {})", has_sign ? "bvashr" : "bvlshr", args[0], args[1]);
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

// Which one of two zeros is the greater one is open, so that these need the laws by which they are one.
std::string SmtWriter::Choices(const Term* term, const std::vector<std::string>& args) {
  if (term->op == op::kNegative) return fmt::format("(fp.neg {})", args[0]);
  if (term->op == op::kAbs) return fmt::format("(fp.abs {})", args[0]);
  if (!terms_.laws().reals) return {};
  const DataType dtype = term->dtype;
  switch (term->op) {
    case op::kMaximum:
    case op::kMinimum: {
      if (std::ranges::any_of(term->args, [&](const Term* arg) { return arg->dtype != dtype; })) return {};
      std::string text = args[0];
      for (size_t i = 1; i < args.size(); ++i) text = Extremum(term->op == op::kMaximum, text, args[i]);
      return text;
    }
    case op::kNnRelu: return Extremum(true, args[0], Number(terms_.Number(dtype, 0.0)));
    case op::kClip: {
      const auto least = terms_.ValueOf(term->args[1]), most = terms_.ValueOf(term->args[2]);
      if (!least || !most || std::isnan(*least) || std::isnan(*most)) return {};
      const std::string below = Extremum(false, args[0], Number(terms_.Number(dtype, *most)));
      return Extremum(true, below, Number(terms_.Number(dtype, *least)));
    }
    default: return {};
  }
}

std::string SmtWriter::Equation(DataType dtype, std::string_view a, std::string_view b) const {
  const std::string same = fmt::format("(= {} {})", a, b);
  return IsOfFormat(dtype) && terms_.laws().reals ? fmt::format("(or {} (fp.eq {} {}))", same, a, b) : same;
}

std::string SmtWriter::Clip(const Term* term, const std::string& x) {
  const DataType dtype = term->dtype;
  std::string bounds[2];
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const auto value = terms_.ValueOf(term->args[i + 1]);
    if (!value || *value != std::floor(*value) || std::abs(*value) > 0x1p62) return {};
    const bool is_whole = term->args[i + 1]->dtype.is_integer();
    const int64_t bound = is_whole ? term->args[i + 1]->number : static_cast<int64_t>(*value);
    const int64_t greatest = dtype.bits >= 64 ? INT64_MAX : (int64_t{1} << (dtype.bits - (dtype.is_int() ? 1 : 0))) - 1;
    const int64_t least = dtype.is_int() ? -greatest - 1 : 0;
    bounds[i] = Number(terms_.Number(dtype, std::clamp(bound, least, greatest)));
  }
  const std::string_view less = dtype.is_int() ? "bvslt" : "bvult";
  const std::string below = Choose(fmt::format("({} {} {})", less, bounds[1], x), bounds[1], x);
  return Choose(fmt::format("({} {} {})", less, below, bounds[0]), bounds[0], below);
}

std::string SmtWriter::Convert(const Term* term, const std::string& arg) {
  const DataType from = term->args[0]->dtype;
  const DataType to = term->dtype;
  if (from.is_floating() || to.is_floating()) {
    const std::string format = FormatOf(to);
    const bool is_known = !IsReal(from) && !IsReal(to) && (from.is_integer() || !FormatOf(from).empty()) &&
                          (to.is_integer() || !format.empty());
    if (!is_known) return {};
    if (to.is_bool()) return fmt::format("(not (fp.isZero {}))", arg);
    // A number that the dtype does not have is an error. All conversions round once.
    if (to.is_integer())
      return fmt::format("((_ {} {}) RTZ {})", to.is_int() ? "fp.to_sbv" : "fp.to_ubv", to.bits, arg);
    if (from.is_bool())
      return Choose(arg, fmt::format("((_ to_fp {}) RNE 1.0)", format), fmt::format("((_ to_fp {}) RNE 0.0)", format));
    return fmt::format("((_ {} {}) RNE {})", from.is_uint() ? "to_fp_unsigned" : "to_fp", format, arg);
  }
  if (from.is_bool()) return Choose(arg, fmt::format("(_ bv1 {})", to.bits), fmt::format("(_ bv0 {})", to.bits));
  if (to.is_bool()) return fmt::format("(not (= {} (_ bv0 {})))", arg, from.bits);
  if (to.bits <= from.bits) return fmt::format("((_ extract {} 0) {})", to.bits - 1, arg);
  return fmt::format("((_ {} {}) {})", from.is_int() ? "sign_extend" : "zero_extend", to.bits - from.bits, arg);
}

}  // namespace iropt::proof
