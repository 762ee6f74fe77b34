// Reads types: R.Tensor((n, 4), dtype="float32"), R.Tuple(...), R.Callable(...), x.struct_info, ...
#pragma once

#include <string_view>
#include <vector>

#include "text/script/parser_core.h"
#include "type_cache.h"

namespace iropt::text {

class RelaxExprParser;

// Null after an error, for all of its functions.
class RelaxTypeParser : public ParserCore {
 public:
  // Dimensions are read by `exprs`.
  RelaxTypeParser(Shared shared, RelaxExprParser& exprs) : ParserCore(shared), exprs_(exprs) {}

  const Type* Parse();
  // To be called when a symbolic variable was defined.
  void Invalidate() { types_.Invalidate(); }

  // Types that depend on a variable of the function live in its workspace.
  const TupleType* MakeTupleType(std::span<const Type* const> fields);
  const FuncType* MakeFuncType(std::span<const Type* const> params, const Type* ret, bool purity);

 private:
  struct TensorSpec;

  const Type* ParseUncached();
  const Type* ParseTypeOfValue();
  const Type* ParseTensor(Span span);
  const Type* ParseDTensor(Span span);
  const Type* ParseShape();
  const Type* ParseTuple();
  const Type* ParsePrim();
  const Type* ParseCallable();
  bool ParseCallableArgument(std::string_view keyword, struct CallableSpec& spec);
  const Type* MakeTensorType(const TensorSpec& spec, Span span);
  bool ParseTypeList(TokenKind close, std::vector<const Type*>& types);
  bool ParseTensorArgument(TensorSpec& spec, std::string_view keyword, int position);
  bool ParseMeshArgument(TensorSpec& spec);
  bool ParseDims(std::vector<const PrimExpr*>& dims);
  const PrimExpr* ParseDim();
  const PrimExpr* ParseQuotedDim();
  const PrimExpr* ParseQuotedDim(Lexer inner);

  RelaxExprParser& exprs_;
  TypeCache types_;
  bool names_variable_ = false;  // the type that is being read depends on a variable of the function
};

}  // namespace iropt::text
