// Declarations of buffers, and their methods.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "iropt/ir/tir/builder.h"
#include "iropt/support/lookup.h"
#include "subscripts.h"

namespace iropt::text {

class BufferValues : public BufferElements {
 public:
  using BufferElements::BufferElements;

  // Reads the arguments of T.Buffer, T.match_buffer, T.alloc_buffer and T.decl_buffer, which differ in the arguments
  // before the shape. With `source`, the first one is the source of T.match_buffer; null if it is absent. False after
  // an error.
  bool ReadBufferSpec(const PyArgs& args, std::string_view what, const PyValue** source, tir::BufferSpec& spec);
  // The argument `layout` of a declaration with the shape and scope of the specification; null if it is absent. False
  // after an error.
  const PrimExpr* TrainiumLayout(std::string_view kinds, const tir::BufferSpec& spec, Span span);
  bool ReadLayout(const PyValue* layout, Span span, tir::BufferSpec& spec);

  const PrimExpr* DefaultLayout(Span span);

  // A.access_ptr("rw", ptr_type, content_lanes, offset, extent). Null after an error, as below.
  const PrimExpr* AccessPointer(const tir::Buffer* buffer, const PyArgs& args);
  // A.ptr_to([i, j]): the address of an element
  const PrimExpr* ElementPointer(const tir::Buffer* buffer, const PyArgs& args);
  // A.vload([i], dtype, predicate)
  const PrimExpr* VectorLoad(const tir::Buffer* buffer, const PyArgs& args);

  // The stride of a dimension of a compact buffer. Null after an error.
  const PrimExpr* CompactStride(std::span<const PrimExpr* const> shape, size_t dim, Span span);

 protected:
  // Reads a dimension or stride in quotes; null where the text has none.
  std::function<const PrimExpr*(const PyValue&)> read_quoted_;
  // In a signature, the variable of a name that a dimension in quotes before it introduces; null if there is none.
  std::function<const tir::Var*(std::string_view name, Span span)> read_introduced_;
  // In a function of TVM 0.25's own flavour, buffers have the compact layout unless they state another one.
  bool default_layout_ = false;
  // From TVM 0.26 on, all pointers have a type. Also in texts of 0.25, which are not told from those here: in them TVM
  // has no buffers on pointers without a type.
  bool has_void_pointers_ = false;
  // In the other flavour, T.prim_func(s_tir=True), none have one.
  bool is_s_tir_ = false;

  // Remembers a pointer without a type that the function introduces: a buffer that is declared on it gives it one.
  void KeepPointer(tir::Var* var);
  // Returns the variable if KeepPointer has remembered it, else null.
  tir::Var* KeptPointer(const tir::Var* var) const;

 private:
  LookupMap<const tir::Var*, tir::Var*> untyped_pointers_;

  bool IsCompactLayout(const PrimExpr* layout, std::span<const PrimExpr* const> shape);
  bool ReadByteOffset(const PyValue& value, tir::BufferSpec& spec);
  bool ReadAddress(const PyValue* address, tir::BufferSpec& spec);
  bool ReadDims(const PyValue& value, std::vector<const PrimExpr*>& dims);
  template <size_t N>
  bool BindTo(const PyArgs& args, std::string_view what, const std::string_view (&names)[N], size_t required,
              const PyValue* (&out)[N]) {
    return BindArguments(args, what, names, required, out, diagnostics_);
  }
  bool ReadStrides(const PyValue& value, tir::BufferSpec& spec, std::string_view what);
};

}  // namespace iropt::text
