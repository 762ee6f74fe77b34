// Prints types, with a cache by type: a module has few distinct types.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "iropt/infer/print/prim_printer.h"

namespace iropt {

class TypePrinter {
 public:
  // A type that consists of more types than this is printed without its fields: parts are shared in memory, but not in
  // text. Messages are meant to be read.
  static constexpr uint32_t kMostTypes = uint32_t{1} << 22;
  static constexpr uint32_t kMostTypesInMessages = 256;

  explicit TypePrinter(PrintTarget& context) : context_(context) {}

  // In the signature of a function at the top level, dimensions that use a variable which the signature itself
  // introduces are printed in quotes; these are the variables.
  using Introduced = std::unordered_set<const tir::Var*>;
  void Print(const Type* type, const Introduced* introduced = nullptr);
  // A type inside another one, or in a list of types: from 0.26 on TVM reads R.Prim("int64") there, not T.int64.
  void PrintPart(const Type* type);
  void PrintDim(const PrimExpr* dim, const Introduced* introduced = nullptr);
  // Names of symbolic variables change with the function: invalidates cached types that use them.
  void StartFunction() { ++epoch_; }
  // "cuda:0", counted among the module's devices of that kind.
  void PrintVDevice(const VDeviceAttr* device);
  // "mesh[0]", by its index in the module's global infos.
  void PrintDeviceMesh(const DeviceMeshAttr* mesh);
  void PrintDType(DataType dtype);

 private:
  bool IsTooBig(const Type* type) const {
    return type->tree_size > (context_.for_messages() ? kMostTypesInMessages : kMostTypes);
  }
  bool PrintScalarPart(const Type* type);  // returns whether it is one
  void PrintUncached(const Type* type, const Introduced* introduced, OutputStream& out);
  void PrintPrim(const PrimType* type, const Introduced* introduced);
  void PrintValue(const PrimExpr* value, const Introduced* introduced);
  void PrintTensor(const TensorType* type, const Introduced* introduced);
  void PrintDTensor(const DTensorType* type, const Introduced* introduced);
  void PrintFunc(const FuncType* type, const Introduced* introduced);
  void PrintDims(std::span<const PrimExpr* const> dims, const Introduced* introduced);
  void PrintList(std::span<const Type* const> types, const Introduced* introduced);

  struct Cached {
    uint32_t epoch = 0;  // 0: nothing; kForever for types without symbolic variables
    std::string_view text;
  };
  static constexpr uint32_t kForever = UINT32_MAX;

  PrintTarget& context_;
  uint32_t epoch_ = 1;
  std::vector<Cached> cache_;  // by Type::id
  Arena texts_;
};

}  // namespace iropt
