#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "iropt/ir/context.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/stack.h"
#include "parser_core.h"

namespace iropt::relay {

namespace {

class TypeParser {
 public:
  explicit TypeParser(ParserCore& core) : core_(core) {}

  const Type* Parse() {
    switch (core_.lex.token().kind) {
      case TokenKind::kLParen: return ParseTuple();
      case TokenKind::kName: return ParseNamed();
      default: core_.Unexpected("a type"); return nullptr;
    }
  }

 private:
  const Type* ParseNested() {
    return WithStack([this] { return Parse(); });
  }

  const Type* ParseTuple() {
    core_.lex.Next();
    std::vector<const Type*> fields;
    while (!core_.Is(TokenKind::kRParen)) {
      const Type* field = ParseNested();
      if (!field) return nullptr;
      fields.push_back(field);
      if (!core_.Skip(TokenKind::kComma)) break;
    }
    return core_.Expect(TokenKind::kRParen) ? TupleType::Get(fields) : nullptr;
  }

  const Type* ParseNamed() {
    const Token token = core_.lex.Next();
    const std::string_view name = core_.lex.Text(token);
    if (name == "Tensor") return ParseTensor();
    if (name == "fn") return ParseFunction();
    if (name == "_") return ObjectType::Get();
    if (const auto dtype = DataType::Parse(name); dtype && !dtype->is_handle())
      return TensorType::Get(std::span<const PrimExpr* const>(), *dtype);
    if (std::ranges::find(core_.type_params, name) != core_.type_params.end()) return ObjectType::Get();
    if (name == "ref") return NoType(token, "a reference");
    if (name == "Storage" || name == "Shape") return ObjectType::Get();
    if (const auto nearest = NearestType(name)) return Unknown(token, "type", name, *nearest);
    return NoType(token, fmt::format("the data type or type variable '{}'", name));
  }

  // Suggests the type that a misspelled name may mean.
  static std::optional<std::string_view> NearestType(std::string_view name) {
    constexpr std::string_view kNames[] = {"Tensor", "bool",    "int8",    "int16",   "int32",
                                           "int64",  "uint1",   "uint8",   "uint16",  "uint32",
                                           "uint64", "float16", "float32", "float64", "bfloat16"};
    return NearestName(name, kNames);
  }

  // Reports an unknown type or data type. Parsing goes on with the object type in its place.
  const Type* Unknown(Token token, std::string_view what, std::string_view name,
                      std::optional<std::string_view> nearest) {
    DiagnosticBuilder error =
        core_.diagnostics.Error(core_.lex.SpanOf(token), "unknown-dtype", fmt::format("unknown {} '{}'", what, name));
    if (nearest)
      error.FixIt(core_.lex.SpanOf(token), std::string(*nearest)).Note(fmt::format("did you mean '{}'?", *nearest));
    return ObjectType::Get();
  }

  const Type* NoType(Token token, std::string_view what) {
    core_.Error(core_.lex.SpanOf(token), "no-counterpart", fmt::format("Relax has no counterpart for {}", what));
    return ObjectType::Get();
  }

  const Type* ParseTensor() {
    if (!core_.Expect(TokenKind::kLBracket) || !core_.Expect(TokenKind::kLParen)) return nullptr;
    std::vector<const PrimExpr*> dims;
    while (!core_.Is(TokenKind::kRParen)) {
      const PrimExpr* dim = ParseDim();
      if (!dim) return nullptr;
      dims.push_back(dim);
      if (!core_.Skip(TokenKind::kComma)) break;
    }
    if (!core_.Expect(TokenKind::kRParen) || !core_.Expect(TokenKind::kComma)) return nullptr;
    const Token token = core_.lex.token();
    std::string_view name = core_.lex.Text(token);
    if (core_.Is(TokenKind::kString)) {
      core_.lex.Next();
      name = name.substr(1, name.size() - 2);
    } else if (!core_.Expect(TokenKind::kName)) {
      return nullptr;
    }
    const auto dtype = DataType::Parse(name);
    const bool is_known = dtype && !dtype->is_void();
    const Type* unknown = is_known ? nullptr : Unknown(token, "data type", name, NearestType(name));
    if (!core_.Expect(TokenKind::kRBracket)) return nullptr;
    return is_known ? TensorType::Get(dims, *dtype) : unknown;
  }

  const PrimExpr* ParseDim() {
    const Token token = core_.lex.token();
    if (core_.Skip(TokenKind::kQuestion)) return IRContext::Current().NewSymVar("d");
    if (core_.IsName("meta")) return ParseMetadataReference(core_) ? IRContext::Current().NewSymVar("d") : nullptr;
    if (!core_.Expect(TokenKind::kInt)) return nullptr;
    const auto number = ParseNumber(core_.lex.Text(token), TokenKind::kInt);
    if (!number || number->integer < 0) {
      core_.Error(core_.lex.SpanOf(token), "bad-shape",
                  fmt::format("'{}' is not the size of a dimension", core_.lex.Text(token)));
      return nullptr;
    }
    return IRContext::Current().Int(number->integer);
  }

  const Type* ParseFunction() {
    const size_t outer = core_.type_params.size();
    if (!ParseTypeParams(core_)) return nullptr;
    const Type* type = ParseSignature();
    core_.type_params.resize(outer);
    return type;
  }

  const Type* ParseSignature() {
    if (!core_.Expect(TokenKind::kLParen)) return nullptr;
    std::vector<const Type*> params;
    while (!core_.Is(TokenKind::kRParen)) {
      const Type* param = ParseNested();
      if (!param) return nullptr;
      params.push_back(param);
      if (!core_.Skip(TokenKind::kComma)) break;
    }
    if (!core_.Expect(TokenKind::kRParen) || !core_.Expect(TokenKind::kArrow)) return nullptr;
    const Type* result = ParseNested();
    return result ? FuncType::Get(params, result) : nullptr;
  }

  ParserCore& core_;
};

}  // namespace

bool ParseTypeParams(ParserCore& core) {
  if (!core.Skip(TokenKind::kLBracket)) return true;
  while (core.Is(TokenKind::kName)) {
    core.type_params.push_back(core.lex.Text(core.lex.Next()));
    if (!core.Skip(TokenKind::kComma)) break;
  }
  return core.Expect(TokenKind::kRBracket);
}

const Type* ParseType(ParserCore& core) { return TypeParser(core).Parse(); }

}  // namespace iropt::relay
