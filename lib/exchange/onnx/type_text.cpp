#include "exchange/onnx/type_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "exchange/onnx/tensors.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/identifier.h"

namespace iropt::onnx {

namespace {

using Kind = ValueType::Kind;

struct KindRow {
  Kind kind;
  std::string_view name;
};

constexpr KindRow kKinds[] = {{Kind::kTensor, "tensor"},     {Kind::kSparseTensor, "sparse_tensor"},
                              {Kind::kSequence, "seq"},      {Kind::kMap, "map"},
                              {Kind::kOptional, "optional"}, {Kind::kOpaque, "opaque"}};
constexpr int kDeepest = 16;

// Around names of dimensions that would be read as something else: one that the name does not have.
constexpr std::string_view kQuotes = "'\"`|~";

std::optional<int64_t> NumberOf(std::string_view word) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

std::string TextOf(const Dim& dim) {
  if (dim.value) return fmt::format("{}", *dim.value);
  const std::string_view name = dim.param;
  if (name.empty()) return "?";
  const bool is_plain = name != "?" && !NumberOf(name) && name.find_first_of(",]") == std::string_view::npos &&
                        kQuotes.find(name.front()) == std::string_view::npos;
  if (is_plain) return std::string(name);
  const auto quote = std::ranges::find_if(kQuotes, [&](char c) { return name.find(c) == std::string_view::npos; });
  return quote == kQuotes.end() ? "?" : fmt::format("{0}{1}{0}", *quote, name);
}

bool IsTensorKind(Kind kind) { return kind == Kind::kTensor || kind == Kind::kSparseTensor; }

class TypeReader {
 public:
  explicit TypeReader(std::string_view text) : rest_(text) {}

  std::optional<ValueType> Read(int depth = 0) {
    ValueType type;
    const std::string_view name = Word("(");
    for (const KindRow& row : kKinds) {
      if (row.name == name) type.kind = row.kind;
    }
    if (type.kind == Kind::kNone || depth > kDeepest || !Skip('(')) return std::nullopt;
    if (IsTensorKind(type.kind) || type.kind == Kind::kMap) type.element = Element(Word(",)"));
    if (type.kind == Kind::kMap && !Skip(',')) return std::nullopt;
    if (!IsTensorKind(type.kind) && type.kind != Kind::kOpaque) {
      std::optional<ValueType> inner = Read(depth + 1);
      if (!inner) return std::nullopt;
      type.inner.push_back(std::move(*inner));
    }
    if (!Skip(')')) return std::nullopt;
    if (IsTensorKind(type.kind) && Skip('[') && !ReadDims(type)) return std::nullopt;
    return type;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view Word(std::string_view ends) {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(word.size());
    return word;
  }

  bool Skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool ReadDims(ValueType& type) {
    type.has_shape = true;
    if (Skip(']')) return true;
    do {
      Dim& dim = type.dims.emplace_back();
      if (!rest_.empty() && kQuotes.find(rest_.front()) != std::string_view::npos) {
        const char quote = rest_.front();
        rest_.remove_prefix(1);
        dim.param = Word({&quote, 1});
        if (!Skip(quote)) return false;
        continue;
      }
      const std::string_view word = Word(",]");
      if (const std::optional<int64_t> number = NumberOf(word))
        dim.value = number;
      else if (word != "?")
        dim.param = word;
    } while (Skip(','));
    return Skip(']');
  }

  static ElementType Element(std::string_view name) {
    for (int32_t number = 0; number <= static_cast<int32_t>(ElementType::kInt2); ++number) {
      if (NameOf(static_cast<ElementType>(number)) == name) return static_cast<ElementType>(number);
    }
    return ElementType::kUndefined;
  }

  std::string_view rest_;
};

}  // namespace

std::string ToText(const ValueType& type) {
  std::string text;
  for (const KindRow& row : kKinds) {
    if (row.kind == type.kind) text = row.name;
  }
  text += '(';
  if (IsTensorKind(type.kind) || type.kind == Kind::kMap) text += NameOf(type.element);
  if (type.kind == Kind::kMap) text += ',';
  for (const ValueType& inner : type.inner) text += ToText(inner);
  text += ')';
  if (!IsTensorKind(type.kind) || !type.has_shape) return text;
  std::string dims;
  for (const Dim& dim : type.dims) {
    if (!dims.empty()) dims += ',';
    dims += TextOf(dim);
  }
  return text + '[' + dims + ']';
}

std::optional<ValueType> TypeFromText(std::string_view text) {
  TypeReader reader(text);
  std::optional<ValueType> type = reader.Read();
  return type && reader.at_end() ? type : std::nullopt;
}

namespace {

bool SaysMoreThan(const Dim& stated, const PrimExpr* dim) {
  if (stated.value) return dim != nullptr && !Is<tir::IntImm>(dim);
  if (dim == nullptr) return IdentifierFor(stated.param) != stated.param;
  const auto* var = As<tir::Var>(dim);
  return !stated.param.empty() && !Is<tir::IntImm>(dim) && (var == nullptr || var->name != stated.param);
}

}  // namespace

bool SaysMoreThan(const ValueType& stated, const Type* type) {
  if (stated.kind == Kind::kNone) return false;
  if (stated.kind != Kind::kTensor || !DataTypeOf(stated.element)) return true;
  const auto* tensor = As<TensorType>(type);
  if (type != nullptr && (tensor == nullptr || !tensor->known || tensor->dims.size() != stated.dims.size()))
    return stated.has_shape;
  for (size_t i = 0; i < stated.dims.size(); ++i) {
    if (SaysMoreThan(stated.dims[i], tensor ? tensor->dims[static_cast<uint32_t>(i)] : nullptr)) return true;
  }
  return false;
}

std::vector<const Type*> ResultTypesOf(const SeqExpr& body) {
  if (const auto* tuple = As<Tuple>(body.body)) {
    std::vector<const Type*> types;
    for (const Expr* field : tuple->fields) types.push_back(field->type);
    return types;
  }
  return {body.body->type};
}

}  // namespace iropt::onnx
