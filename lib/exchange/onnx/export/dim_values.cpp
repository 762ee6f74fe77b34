#include "exchange/onnx/export/dim_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exchange/onnx/export/attributes.h"
#include "exchange/onnx/export/function_exporter.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/stack.h"

namespace iropt::onnx {

namespace {

// The operator that computes the same for two integers; empty if there is none.
std::string_view NodeFor(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAdd: return "Add";
    case NodeKind::kSub: return "Sub";
    case NodeKind::kMul: return "Mul";
    case NodeKind::kDiv: return "Div";
    case NodeKind::kMin: return "Min";
    case NodeKind::kMax: return "Max";
    case NodeKind::kEQ: return "Equal";
    case NodeKind::kLT: return "Less";
    case NodeKind::kGT: return "Greater";
    case NodeKind::kAnd: return "And";
    case NodeKind::kOr: return "Or";
    default: return {};
  }
}

// The operator of which a comparison is the opposite.
std::string_view OppositeOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kNE: return "Equal";
    case NodeKind::kLE: return "Greater";
    case NodeKind::kGE: return "Less";
    default: return {};
  }
}

bool IsBinary(NodeKind kind) {
  return kind == NodeKind::kFloorDiv || kind == NodeKind::kFloorMod || kind == NodeKind::kMod ||
         !NodeFor(kind).empty() || !OppositeOf(kind).empty();
}

// Returns whether quotients are rounded in the same way towards zero and down.
bool IsNaturalQuotient(const tir::BinaryExpr& e) {
  arith::Analyzer analyzer;
  return analyzer.CanProveGreaterEqual(e.a, 0) && analyzer.CanProveGreaterEqual(e.b, 1);
}

// Returns whether vectors of dimensions are computed by the node, element by element.
bool IsBetweenVectors(std::string_view op) { return op == "Add" || op == "Sub" || op == "Mul" || op == "Div"; }

}  // namespace

std::optional<int64_t> WholeFactor(const PrimExpr* dim, const PrimExpr* size) {
  const auto* known_dim = As<tir::IntImm>(dim);
  const auto* known_size = As<tir::IntImm>(size);
  if (known_dim != nullptr && known_size != nullptr && known_dim->value > 0 &&
      known_size->value % known_dim->value == 0)
    return known_size->value / known_dim->value;
  if (DeepEqual(dim, size)) return 1;
  const auto* product = As<tir::Mul>(size);
  const auto* factor = product ? As<tir::IntImm>(product->b) : nullptr;
  return factor && factor->value > 0 && DeepEqual(product->a, dim) ? std::optional(factor->value) : std::nullopt;
}

std::string_view DimValues::BinaryScalar(const tir::BinaryExpr& e, Form form) {
  const std::string_view a = Number(e.a, form);
  const std::string_view b = Number(e.b, form);
  if (e.kind == NodeKind::kMin) return exporter_.IntExtremum("Min", a, b);
  if (e.kind == NodeKind::kMax) return exporter_.IntExtremum("Max", a, b);
  if (const std::string_view op = NodeFor(e.kind); !op.empty()) return exporter_.Add(op, {a, b});
  if (const std::string_view op = OppositeOf(e.kind); !op.empty())
    return exporter_.Add("Not", {exporter_.Add(op, {a, b})});
  const bool is_quotient = e.kind == NodeKind::kFloorDiv;
  const bool is_natural = IsNaturalQuotient(e);
  if (is_natural && is_quotient) return exporter_.Add("Div", {a, b});
  if (exporter_.context().opset() < 10) {
    exporter_.Report("a dimension", "its expression needs opset 10 of ONNX");
    return {};
  }
  if (is_natural || e.kind == NodeKind::kFloorMod) return exporter_.Add("Mod", {a, b});
  // Div rounds towards zero, and Mod is the remainder of rounding down.
  if (is_quotient) return exporter_.Add("Div", {exporter_.Add("Sub", {a, exporter_.Add("Mod", {a, b})}), b});
  return exporter_.Add("Mod", {a, b}, {IntAttribute("fmod", 1)});
}

std::string_view DimValues::CompoundScalar(const PrimExpr* value, Form form) {
  const auto where = [&](const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b) {
    return exporter_.Add("Where", {Number(condition, form), Number(a, form), Number(b, form)});
  };
  if (IsBinary(value->kind)) return BinaryScalar(*static_cast<const tir::BinaryExpr*>(value), form);
  if (const auto* cast = As<tir::Cast>(value)) return Number(cast->value, form);
  if (const auto* negation = As<tir::Not>(value)) return exporter_.Add("Not", {Number(negation->a, form)});
  if (const auto* select = As<tir::Select>(value))
    return where(select->condition, select->true_value, select->false_value);
  const auto* call = As<tir::Call>(value);
  if (call != nullptr && call->op == GetOp(op::kTirIfThenElse))
    return where(call->args[0], call->args[1], call->args[2]);
  exporter_.Report("a dimension", "its expression has no counterpart in ONNX");
  return {};
}

std::string_view DimValues::Number(const PrimExpr* value, Form form) {
  if (const auto* number = As<tir::IntImm>(value))
    return form == Form::Scalar ? exporter_.IntScalar(number->value)
                                : exporter_.IntTensor(std::span(&number->value, 1));
  if (given_ == Given::All) return GivenValue();
  auto& computed = form == Form::Scalar ? known_.numbers : known_.scalars;
  if (const auto known = computed.find(value); known != computed.end()) return known->second;
  std::string_view name;
  if (const Source* source = SourceOf(value)) {
    name = form == Form::Scalar ? ElementOf(*source) : ElementsOf(*source, {source->index});
  } else if (const auto* var = As<tir::Var>(value)) {
    if (given_ == Given::Symbols) return GivenValue();
    exporter_.Report(fmt::format("the symbolic variable '{}'", var->name), "no tensor has it as a dimension");
    return {};
  } else {
    name = WithStack([&] { return CompoundScalar(value, form); });
  }
  return computed[value] = name;
}

std::string_view DimValues::ScalarTensor(const PrimExpr* value) { return Number(value, Form::Vector); }

std::string_view DimValues::GivenValue() { return exporter_.context().Unique("size"); }

std::string_view DimValues::ShapeOf(std::string_view tensor) {
  if (given_ == Given::All) return GivenValue();
  std::string_view& shape = known_.shape_tensors[tensor];
  if (shape.empty()) shape = exporter_.Add("Shape", {tensor});
  return shape;
}

std::string_view DimValues::ElementsOf(const Source& source, const std::vector<int64_t>& indices) {
  const bool is_whole = source.is_vector && !source.is_element;
  const std::string_view shape = source.is_element ? source.tensor : ShapeOf(source.tensor);
  if (is_whole) return shape;
  return exporter_.Add("Gather", {shape, exporter_.IntTensor(indices)}, {IntAttribute("axis", 0)});
}

std::string_view DimValues::TensorWith(std::span<const PrimExpr* const> shape) const {
  if (std::ranges::all_of(shape, [](const PrimExpr* dim) { return Is<tir::IntImm>(dim); })) return {};
  return known_.shapes.Lookup({shape.begin(), shape.end()});
}

std::optional<DimValues::Term> DimValues::TermOf(const PrimExpr* value) const {
  if (Is<tir::IntImm>(value) || known_.scalars.contains(value)) return std::nullopt;
  if (const Source* source = SourceOf(value)) return Term{source, {}, 0};
  if (!IsBinary(value->kind)) return std::nullopt;
  const auto& e = *static_cast<const tir::BinaryExpr*>(value);
  const Source* source = SourceOf(e.a);
  const auto* number = As<tir::IntImm>(e.b);
  const std::string_view op = e.kind == NodeKind::kFloorDiv && number && IsNaturalQuotient(e) ? "Div" : NodeFor(e.kind);
  if (source == nullptr || number == nullptr || !IsBetweenVectors(op)) return std::nullopt;
  return Term{source, op, number->value};
}

DimValues::Run DimValues::RunFrom(std::span<const PrimExpr* const> values, size_t first) const {
  Run run;
  for (size_t i = first; i < values.size(); ++i) {
    const std::optional<Term> term = TermOf(values[i]);
    if (!term) break;
    const bool is_other = run.source && (term->source->tensor != run.source->tensor ||
                                         term->source->is_element != run.source->is_element);
    if (is_other || (!run.op.empty() && !term->op.empty() && run.op != term->op)) break;
    if (!term->op.empty()) run.op = term->op;
    run.source = term->source;
    run.indices.push_back(term->source->index);
    run.numbers.push_back(term->op.empty() ? std::nullopt : std::optional(term->number));
  }
  return run;
}

std::string_view DimValues::TensorOf(const Run& run) {
  const std::string_view elements = ElementsOf(*run.source, run.indices);
  if (run.op.empty()) return elements;
  const int64_t neutral = run.op == "Mul" || run.op == "Div" ? 1 : 0;
  std::vector<int64_t> numbers;
  for (const std::optional<int64_t>& number : run.numbers) numbers.push_back(number.value_or(neutral));
  return exporter_.Add(run.op, {elements, exporter_.IntTensor(numbers)});
}

std::string_view DimValues::ScaledShape(std::span<const PrimExpr* const> values) {
  std::string_view found;
  std::vector<int64_t> factors;
  known_.shapes.ForEachInAnyOrder([&](const std::vector<const PrimExpr*>& shape, std::string_view tensor) {
    if (shape.size() != values.size() || (!found.empty() && found < tensor)) return;
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < shape.size(); ++i) {
      const std::optional<int64_t> factor = WholeFactor(shape[i], values[i]);
      if (!factor) return;
      numbers.push_back(*factor);
    }
    // One of them in a definite way.
    found = tensor;
    factors = std::move(numbers);
  });
  if (found.empty()) return {};
  return exporter_.Add("Mul", {ShapeOf(found), exporter_.IntTensor(factors)});
}

const DimValues::Source* DimValues::SourceOf(const PrimExpr* dim) const {
  if (const auto* var = As<tir::Var>(dim)) {
    return known_.symbols.Find(var);
  }
  const auto found = std::ranges::find_if(known_.dims, [&](const auto& known) { return DeepEqual(known.first, dim); });
  return found == known_.dims.end() ? nullptr : &found->second;
}

void DimValues::Define(const Type* type, std::string_view tensor) {
  const auto* known = As<TensorType>(type);
  if (known == nullptr || !known->known) return;
  if (known->has_sym_var()) known_.shapes.try_emplace({known->dims.begin(), known->dims.end()}, tensor);
  for (uint32_t i = 0; i < known->dims.size(); ++i) {
    const PrimExpr* dim = known->dims[i];
    const Source source{tensor, i, false, known->dims.size() == 1};
    if (const auto* var = As<tir::Var>(dim)) {
      known_.symbols.try_emplace(var, source);
    } else if (!Is<tir::IntImm>(dim) && SourceOf(dim) == nullptr) {
      known_.dims.emplace_back(dim, source);
    }
  }
}

void DimValues::DefineElements(const ShapeType* type, std::string_view tensor) {
  for (uint32_t i = 0; type->known && i < type->values.size(); ++i) {
    if (const auto* var = As<tir::Var>(type->values[i])) known_.symbols.try_emplace(var, Source{tensor, i, true});
  }
}

void DimValues::Rename(std::string_view from, std::string_view to) {
  for (auto* computed : {&known_.scalars, &known_.numbers}) {
    for (auto& [value, name] : *computed) {
      if (name == from) name = to;
    }
  }
  known_.shape_tensors.ForEachInAnyOrder([&](std::string_view, std::string_view& name) {
    if (name == from) name = to;
  });
}

std::string_view DimValues::TensorOfSize(const PrimExpr* value) const {
  if (value->kind != NodeKind::kMul) return {};
  constexpr arith::PrimBuilder kBuilder;
  std::string_view found;
  known_.shapes.ForEachInAnyOrder([&](const std::vector<const PrimExpr*>& shape, std::string_view tensor) {
    const PrimExpr* product = IRContext::Current().Int(1);
    for (const PrimExpr* dim : shape) product = kBuilder.Mul(product, dim);
    // One of them in a definite way.
    if (DeepEqual(product, value) && (found.empty() || tensor < found)) found = tensor;
  });
  return found;
}

std::string_view DimValues::ElementOf(const Source& source) {
  if (source.is_vector && !source.is_element) return exporter_.Add("Size", {source.tensor});
  const std::string_view shape = source.is_element ? source.tensor : ShapeOf(source.tensor);
  return exporter_.Add("Gather", {shape, exporter_.IntScalar(source.index)}, {IntAttribute("axis", 0)});
}

std::string_view DimValues::DimScalar(const PrimExpr* dim) {
  if (given_ == Given::All) return GivenValue();
  const std::string_view tensor = SourceOf(dim) ? std::string_view() : TensorOfSize(dim);
  if (!tensor.empty()) return exporter_.Add("Size", {tensor});
  return Number(dim, Form::Scalar);
}

std::string_view DimValues::ShapeTensor(std::span<const PrimExpr* const> values,
                                        std::span<const PrimExpr* const> copied) {
  if (const std::string_view tensor = TensorWith(values); !tensor.empty()) return ShapeOf(tensor);
  if (values.size() > 1 && given_ == Given::Nothing) {
    bool is_computed = false;
    size_t parts = 0;  // that numbers separate, which are two nodes at least
    bool follows = false;
    for (const PrimExpr* value : values) {
      const std::optional<Term> term = TermOf(value);
      is_computed |= term && !term->op.empty();
      parts += term && !follows ? 1 : 0;
      follows = term.has_value();
    }
    if (const std::string_view scaled = is_computed || parts > 1 ? ScaledShape(values) : std::string_view();
        !scaled.empty())
      return scaled;
  }
  std::vector<const PrimExpr*> elements(values.begin(), values.end());
  for (size_t i = 0; i < std::min(elements.size(), copied.size()); ++i) {
    if (!Is<tir::IntImm>(elements[i]) && DeepEqual(elements[i], copied[i])) elements[i] = IRContext::Current().Int(0);
  }
  return Concatenated(elements);
}

std::string_view DimValues::Concatenated(std::span<const PrimExpr* const> values) {
  Names parts;
  std::vector<int64_t> numbers;
  const auto flush = [&] {
    if (!numbers.empty()) parts.push_back(exporter_.IntTensor(numbers));
    numbers.clear();
  };
  for (size_t i = 0; i < values.size();) {
    if (const auto* number = As<tir::IntImm>(values[i])) {
      numbers.push_back(number->value);
      ++i;
      continue;
    }
    flush();
    const Run run = given_ == Given::All ? Run() : RunFrom(values, i);
    parts.push_back(run.indices.size() > 1 ? TensorOf(run) : ScalarTensor(values[i]));
    i += std::max<size_t>(run.indices.size(), 1);
  }
  flush();
  if (parts.empty()) return exporter_.IntTensor({});
  if (given_ == Given::All && parts.size() > 1) return GivenValue();
  return parts.size() == 1 ? parts.front() : exporter_.Add("Concat", std::move(parts), {IntAttribute("axis", 0)});
}

}  // namespace iropt::onnx
