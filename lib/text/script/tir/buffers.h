// Declarations of buffers, and their methods.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "iropt/ir/tir/builder.h"
#include "subscripts.h"

namespace iropt::text {

class BufferValues : public BufferElements {
 public:
  using BufferElements::BufferElements;

  // Reads the arguments of T.Buffer, T.match_buffer, T.alloc_buffer and T.decl_buffer, which differ in the arguments
  // before the shape. With `source`, the first one is the source of T.match_buffer; null if it is absent. False after
  // an error.
  bool ReadBufferSpec(const PyArgs& args, std::string_view what, const PyValue** source, tir::BufferSpec& spec);
  // layout=None or layout="default": the layout that a buffer has without it. False after an error.
  bool CheckLayout(const PyValue* layout);

  // A.access_ptr("rw", ptr_type, content_lanes, offset, extent). Null after an error, as below.
  const PrimExpr* AccessPointer(const tir::Buffer* buffer, const PyArgs& args);
  // A.vload([i], dtype, predicate)
  const PrimExpr* VectorLoad(const tir::Buffer* buffer, const PyArgs& args);

 protected:
  // Reads a dimension or stride in quotes; null where the text has none.
  std::function<const PrimExpr*(const PyValue&)> read_quoted_;

 private:
  bool ReadDims(const PyValue& value, std::vector<const PrimExpr*>& dims);
  template <size_t N>
  bool BindTo(const PyArgs& args, std::string_view what, const std::string_view (&names)[N], size_t required,
              const PyValue* (&out)[N]) {
    return BindArguments(args, what, names, required, out, diagnostics_);
  }
  bool ReadStrides(const PyValue& value, tir::BufferSpec& spec, std::string_view what);
};

}  // namespace iropt::text
