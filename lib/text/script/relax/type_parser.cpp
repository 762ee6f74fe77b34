#include "type_parser.h"

#include <fmt/format.h>

#include <utility>

#include "expr_parser.h"
#include "iropt/infer/global_infos.h"
#include "iropt/infer/infer.h"
#include "iropt/infer/sharding.h"
#include "iropt/support/stack.h"
#include "text/script/type_checks.h"

namespace iropt::text {

struct RelaxTypeParser::TensorSpec {
  bool has_shape = false;
  std::vector<const PrimExpr*> dims;
  const Expr* shape_var = nullptr;
  DataType dtype;
  int64_t ndim = kUnknownDim;
  const VDeviceAttr* vdevice = nullptr;
  const DeviceMeshAttr* device_mesh = nullptr;
  std::string_view placement;
};

const Type* RelaxTypeParser::Parse() {
  const uint32_t begin = lex_.peek().begin;
  const std::string_view rest = lex_.buffer().substr(begin, lex_.end_offset() - begin);
  if (const TypeCache::Hit hit = types_.Find(rest); hit.type) {
    lex_.SkipTo(begin + hit.length);
    return hit.type;
  }
  // A variable of the function may mean something else the next time.
  const bool outer_names_variable = std::exchange(names_variable_, false);
  const Type* type = WithStack([&] { return ParseUncached(); });
  // The uses of variables in a text that is not read would not be noted.
  if (type && !names_variable_ && (!type->has_sym_var() || symbols_.recorder() == nullptr))
    types_.Insert(lex_.buffer().substr(begin, lex_.previous_end() - begin), type);
  names_variable_ |= outer_names_variable;
  return type;
}

const Type* RelaxTypeParser::ParseUncached() {
  const Span span = SpanHere();
  const Prefix prefix = AtPrefix();
  if (prefix == Prefix::kNone) {
    if (AtName("None")) {
      lex_.Next();
      return TupleType::Get({});
    }
    if (Accept(TokenKind::kLParen)) {
      const Type* inner = Parse();
      return inner && Expect(TokenKind::kRParen, "a type in parentheses") ? inner : nullptr;
    }
    if (At(TokenKind::kName) && lex_.next_char() == '.' && symbols_.Find(lex_.text())) return ParseTypeOfValue();
    return Unexpected("a type such as R.Tensor((2, 3), dtype=\"float32\")");
  }
  const std::string_view alias = lex_.text(lex_.Next());
  const std::string_view name = DottedName();
  if (name.empty()) return nullptr;
  if (prefix == Prefix::kTir) {
    // TVM 0.26 writes the type of a scalar as T.int64.
    if (const auto dtype = DataType::Parse(name); dtype && !dtype->is_void()) return PrimType::Get(*dtype);
  }
  if (prefix == Prefix::kRelax) {
    if (name == "Tensor") return ParseTensor(span);
    if (name == "DTensor" || name == "dist.DTensor") return ParseDTensor(span);
    if (name == "Shape") return ParseShape();
    if (name == "Tuple") return ParseTuple();
    if (name == "Prim") return ParsePrim();
    if (name == "Callable") return ParseCallable();
    if (name == "Object" || name == "Any") {
      if (Accept(TokenKind::kLParen) && !Expect(TokenKind::kRParen, "R.Object()")) return nullptr;
      return ObjectType::Get();
    }
  }
  static constexpr std::string_view kNames[] = {"Any",  "Callable", "DTensor", "Object",
                                                "Prim", "Shape",    "Tensor",  "Tuple"};
  return UnknownMember(alias, name, lex_.SpanFrom(lex_.peek().begin - static_cast<uint32_t>(name.size())), kNames);
}

// x.struct_info: the type that a variable has.
const Type* RelaxTypeParser::ParseTypeOfValue() {
  const Span span = SpanHere();
  names_variable_ = true;
  PyValue value;
  if (!exprs_.ParseValue(value, Precedence::kAtom)) return nullptr;
  if (value.kind == PyValue::Kind::kType) return value.type;
  return Error(span, "bad-expression", "expected a type; that of a variable is x.struct_info");
}

bool RelaxTypeParser::ParseDims(std::vector<const PrimExpr*>& dims) {
  const TokenKind close = At(TokenKind::kLBracket) ? TokenKind::kRBracket : TokenKind::kRParen;
  const Span span = SpanHere();
  lex_.Next();
  bool comma = close == TokenKind::kRBracket;
  while (!At(close)) {
    const PrimExpr* dim = ParseDim();
    if (!dim) return false;
    dims.push_back(dim);
    if (!Accept(TokenKind::kComma)) break;
    comma = true;
  }
  if (!Expect(close, "a shape")) return false;
  if (!comma && !dims.empty()) return Error(span, "bad-shape", "a shape of one dimension is written (n,)");
  WarnOfDims(dims, span, diag_);
  return true;
}

const PrimExpr* RelaxTypeParser::ParseDim() {
  if (At(TokenKind::kInt)) {
    const char next = lex_.next_char();
    if (next == ',' || next == ')' || next == ']') {
      int64_t value = 0;
      const Token token = lex_.Next();
      if (!IntegerValue(token, value)) return nullptr;
      if (value < 0) return Error(lex_.SpanOf(token), "bad-number", "this integer exceeds the range of int64");
      return IRContext::Current().Int(value);
    }
  }
  if (At(TokenKind::kString)) return ParseQuotedDim();
  PyValue value;
  return exprs_.ParseValue(value) ? exprs_.ToDim(value) : nullptr;
}

// A dimension in quotes, "n * 2": in a signature it may name symbolic variables that are not defined yet.
const PrimExpr* RelaxTypeParser::ParseQuotedDim() {
  const Token token = lex_.Next();
  const std::string_view quoted = lex_.text(token);
  if (quoted[0] != '"' && quoted[0] != '\'') {
    return Error(lex_.SpanOf(token), "bad-shape", "expected a plain string with a dimension");
  }
  if (quoted.find('\\') == std::string_view::npos) {
    return ParseQuotedDim(Lexer(lex_.buffer(), lex_.base(), token.begin + 1, token.end - 1, diag_));
  }
  // "T.Cast(\"int64\", n)": the places are off by the backslashes before them.
  std::string storage;
  const std::string_view text = UnescapeString(quoted, storage);
  return ParseQuotedDim(Lexer(text, lex_.base() + token.begin + 1, 0, static_cast<uint32_t>(text.size()), diag_));
}

const PrimExpr* RelaxTypeParser::ParseQuotedDim(Lexer inner) {
  RelaxExprParser sub({inner, state_, ws_, symbols_, diag_}, exprs_.anf());
  sub.set_in_signature(exprs_.in_signature());
  sub.IgnoreConstants();
  PyValue value;
  // Leading blanks would read as indentation.
  if (inner.kind() == TokenKind::kIndent) inner.Next();
  if (!sub.ParseValue(value)) return nullptr;
  if (inner.kind() != TokenKind::kNewline && inner.kind() != TokenKind::kEnd && inner.kind() != TokenKind::kDedent) {
    return sub.Unexpected("the end of the dimension");
  }
  types_.Invalidate();
  return sub.ToDim(value);
}

bool RelaxTypeParser::ParseTensorArgument(TensorSpec& spec, std::string_view keyword, int position) {
  const Span span = SpanHere();
  if (keyword.empty() && position == 0 && At(TokenKind::kString)) keyword = "dtype";
  if (keyword == "shape" || (keyword.empty() && position == 0)) {
    if (AcceptName("None")) return true;
    spec.has_shape = true;
    if (At(TokenKind::kLParen) || At(TokenKind::kLBracket)) return ParseDims(spec.dims);
    PyValue value;
    if (!exprs_.ParseValue(value)) return false;
    const Expr* expr = value.kind == PyValue::Kind::kExpr ? value.expr : nullptr;
    if (const auto* shape = expr ? As<ShapeExpr>(expr) : nullptr) {
      spec.dims.assign(shape->values.begin(), shape->values.end());
      return true;
    }
    if (!expr || !Is<Var>(expr) || !expr->type || !As<ShapeType>(expr->type)) {
      return Error(span, "bad-shape", "the shape of a tensor is a tuple of dimensions or a variable of type R.Shape");
    }
    spec.shape_var = expr;
    names_variable_ = true;
    return true;
  }
  if (keyword == "dtype" || (keyword.empty() && position == 1)) {
    if (AcceptName("None")) return true;
    names_variable_ |= At(TokenKind::kName);
    const auto dtype = ParseDataTypeString();
    if (!dtype) return false;
    spec.dtype = *dtype;
    WarnOfDType(spec.dtype, span, diag_);
    return true;
  }
  if (keyword == "vdevice" || (keyword.empty() && position == 2)) {
    if (AcceptName("None")) return true;
    if (!At(TokenKind::kString)) return Unexpected("a virtual device such as \"cuda:0\"");
    const std::string_view name = ParseStringLiteral();
    spec.vdevice = FindVDevice(state_.module, name);
    return spec.vdevice || Error(span, "unknown-name", fmt::format("the module has no virtual device '{}'", name));
  }
  if (keyword == "ndim" || (keyword.empty() && position == 3)) return ParseInteger(spec.ndim);
  return Error(
      span, "unknown-argument",
      keyword.empty() ? "too many arguments for R.Tensor" : fmt::format("R.Tensor has no argument '{}'", keyword));
}

const Type* RelaxTypeParser::ParseTensor(Span span) {
  TensorSpec spec;
  if (!Accept(TokenKind::kLParen)) return TensorType::Get(kUnknownDim, DataType::Void());
  for (int position = 0; !At(TokenKind::kRParen); ++position) {
    const std::string_view keyword = AcceptKeyword();
    if (!ParseTensorArgument(spec, keyword, position)) return nullptr;
    if (!Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kRParen, "R.Tensor(...)")) return nullptr;
  return MakeTensorType(spec, span);
}

const Type* RelaxTypeParser::MakeTensorType(const TensorSpec& spec, Span span) {
  if (spec.ndim < kUnknownDim || spec.ndim > INT32_MAX)
    return Error(span, "bad-shape", "the number of dimensions is out of range");
  if (spec.shape_var) return TensorType::WithShapeVar(ws_.arena(), spec.shape_var, spec.dtype, spec.vdevice);
  if (!spec.has_shape) return TensorType::Get(static_cast<int>(spec.ndim), spec.dtype, spec.vdevice);
  if (spec.ndim != kUnknownDim && spec.ndim != static_cast<int64_t>(spec.dims.size())) {
    return Error(span, "bad-shape",
                 fmt::format("ndim={} contradicts a shape of {} dimensions", spec.ndim, spec.dims.size()));
  }
  for (const PrimExpr* dim : spec.dims) {
    if (!dim->dtype.is_int()) return Error(span, "bad-shape", "the dimensions of a tensor are integers");
  }
  return TensorType::Get(spec.dims, spec.dtype, spec.vdevice);
}

bool RelaxTypeParser::ParseMeshArgument(TensorSpec& spec) {
  const Span span = SpanHere();
  if (!At(TokenKind::kString)) return Unexpected("a device mesh such as \"mesh[0]\"");
  const std::string_view name = ParseStringLiteral();
  // In a type, the list alone names its first mesh.
  const bool indexed = name.find('[') != std::string_view::npos;
  spec.device_mesh = FindDeviceMesh(state_.module, indexed ? std::string(name) : fmt::format("{}[0]", name));
  return spec.device_mesh || Error(span, "unknown-name", fmt::format("the module has no device mesh '{}'", name));
}

const Type* RelaxTypeParser::ParseDTensor(Span span) {
  TensorSpec spec;
  if (!Expect(TokenKind::kLParen, "R.DTensor(...)")) return nullptr;
  for (int position = 0; !At(TokenKind::kRParen); ++position) {
    const std::string_view keyword = AcceptKeyword();
    if (keyword == "device_mesh" || (keyword.empty() && position == 2)) {
      if (!ParseMeshArgument(spec)) return nullptr;
    } else if (keyword == "placement" || (keyword.empty() && position == 3)) {
      if (!At(TokenKind::kString)) return Unexpected("a placement such as \"S[0], R\"");
      spec.placement = ParseStringLiteral();
    } else if (!ParseTensorArgument(spec, keyword, position)) {
      return nullptr;
    }
    if (!Accept(TokenKind::kComma)) break;
  }
  if (!Expect(TokenKind::kRParen, "R.DTensor(...)")) return nullptr;
  const Type* tensor = MakeTensorType(spec, span);
  if (!tensor) return nullptr;
  if (!spec.device_mesh) return Error(span, "missing-argument", "R.DTensor needs a device_mesh");
  const std::string problem = PlacementProblem(spec.placement, *To<TensorType>(tensor), *spec.device_mesh);
  if (!problem.empty()) return Error(span, "bad-argument", fmt::format("placement '{}' {}", spec.placement, problem));
  return MakeDTensor(To<TensorType>(tensor), spec.device_mesh, ParsePlacement(spec.placement));
}

// R.Shape(values=None, ndim=-1)
const Type* RelaxTypeParser::ParseShape() {
  if (!Accept(TokenKind::kLParen)) return ShapeType::Get();
  std::vector<const PrimExpr*> dims;
  bool has_values = false;
  if (!At(TokenKind::kRParen) && (AcceptKeyword("values") || !AtKeyword())) {
    has_values = !AcceptName("None");
    if (has_values && !At(TokenKind::kLBracket) && !At(TokenKind::kLParen)) return Unexpected("a list of dimensions");
    if (has_values && !ParseDims(dims)) return nullptr;
    if (!At(TokenKind::kRParen) && !Expect(TokenKind::kComma, "R.Shape(...)")) return nullptr;
  }
  int64_t ndim = kUnknownDim;
  const Span span = SpanHere();
  if (AcceptKeyword("ndim")) {
    if (!ParseInteger(ndim)) return nullptr;
    if (ndim < kUnknownDim || ndim > INT32_MAX)
      return Error(span, "bad-shape", "the number of dimensions is out of range");
    if (has_values && ndim != kUnknownDim && ndim != static_cast<int64_t>(dims.size()))
      return Error(span, "bad-shape", fmt::format("ndim={} contradicts a shape of {} dimensions", ndim, dims.size()));
  } else if (AtKeyword()) {
    return ErrorHere("unknown-argument", fmt::format("R.Shape has no argument '{}'", lex_.text()));
  }
  if (!ExpectClose("R.Shape(...)")) return nullptr;
  return has_values ? ShapeType::Get(dims) : ShapeType::Get(static_cast<int>(ndim));
}

bool RelaxTypeParser::ParseTypeList(TokenKind close, std::vector<const Type*>& types) {
  while (!At(close)) {
    const Type* type = Parse();
    if (!type) return false;
    types.push_back(type);
    if (!Accept(TokenKind::kComma)) break;
  }
  return Expect(close, "a list of types");
}

const TupleType* RelaxTypeParser::MakeTupleType(std::span<const Type* const> fields) {
  for (const Type* f : fields) {
    if (f->has_shape_var()) return TupleType::Get(ws_.arena(), fields);
  }
  return TupleType::Get(fields);
}

const FuncType* RelaxTypeParser::MakeFuncType(std::span<const Type* const> params, const Type* ret, bool purity) {
  bool has_shape_var = ret->has_shape_var();
  for (const Type* p : params) has_shape_var |= p->has_shape_var();
  return has_shape_var ? FuncType::Get(ws_.arena(), params, ret, purity) : FuncType::Get(params, ret, purity);
}

const Type* RelaxTypeParser::ParseTuple() {
  std::vector<const Type*> fields;
  if (Accept(TokenKind::kLParen)) {
    if (Accept(TokenKind::kLBracket)) {
      if (!ParseTypeList(TokenKind::kRBracket, fields) || !ExpectClose("R.Tuple([...])")) return nullptr;
    } else if (!ParseTypeList(TokenKind::kRParen, fields)) {
      return nullptr;
    }
  }
  return MakeTupleType(fields);
}

const Type* RelaxTypeParser::ParsePrim() {
  if (!Expect(TokenKind::kLParen, "R.Prim(...)")) return nullptr;
  const Type* type = nullptr;
  if (AcceptKeyword("value")) {
    const PrimExpr* value = ParseDim();
    type = value ? PrimType::Get(value) : nullptr;
  } else {
    AcceptKeyword("dtype");
    names_variable_ |= At(TokenKind::kName);
    const auto dtype = ParseDataTypeString();
    type = dtype ? PrimType::Get(*dtype) : nullptr;
  }
  return type && ExpectClose("R.Prim(...)") ? type : nullptr;
}

struct CallableSpec {
  std::vector<const Type*> params;
  const Type* ret = nullptr;
  bool opaque = true;
  std::optional<bool> purity;
  std::string_view derive;
};

bool RelaxTypeParser::ParseCallableArgument(std::string_view keyword, CallableSpec& spec) {
  if (keyword == "params") {
    spec.opaque = AcceptName("None");
    if (spec.opaque) return true;
    const TokenKind close = At(TokenKind::kLBracket) ? TokenKind::kRBracket : TokenKind::kRParen;
    if (!At(TokenKind::kLBracket) && !At(TokenKind::kLParen)) return Unexpected("a tuple of parameter types");
    lex_.Next();
    return ParseTypeList(close, spec.params);
  }
  if (keyword == "ret") return AcceptName("None") || (spec.ret = Parse()) != nullptr;
  if (keyword == "purity") {
    if (!AtName("True") && !AtName("False") && !AtName("None")) return Unexpected("True or False");
    const std::string_view word = lex_.text(lex_.Next());
    if (word != "None") spec.purity = word == "True";
    return true;
  }
  if (keyword != "derive_func")
    return ErrorHere("unknown-argument", fmt::format("R.Callable has no argument '{}'", keyword));
  if (!At(TokenKind::kString)) return Unexpected("the name of a packed function");
  spec.derive = IRContext::Current().InternString(ParseStringLiteral());
  return true;
}

const Type* RelaxTypeParser::ParseCallable() {
  CallableSpec spec;
  if (Accept(TokenKind::kLParen)) {
    for (int position = 0; !At(TokenKind::kRParen); ++position) {
      static constexpr std::string_view kOrder[] = {"params", "ret", "purity", "derive_func"};
      const std::string_view keyword = AcceptKeyword();
      if (!ParseCallableArgument(!keyword.empty() ? keyword : position < 4 ? kOrder[position] : "", spec))
        return nullptr;
      if (!Accept(TokenKind::kComma)) break;
    }
    if (!Expect(TokenKind::kRParen, "R.Callable(...)")) return nullptr;
  }
  const Type* ret = spec.ret ? spec.ret : ObjectType::Get();
  if (spec.opaque) return FuncType::Opaque(ret, spec.purity.value_or(false), spec.derive);
  return MakeFuncType(spec.params, ret, spec.purity.value_or(true));
}

}  // namespace iropt::text
