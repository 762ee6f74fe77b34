// Declarations of buffers, and their methods.
#pragma once

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

  // A.access_ptr("rw", ptr_type, content_lanes, offset, extent). Null after an error, as below.
  const PrimExpr* AccessPointer(const tir::Buffer* buffer, const PyArgs& args);
  // A.vload([i], dtype, predicate)
  const PrimExpr* VectorLoad(const tir::Buffer* buffer, const PyArgs& args);

 private:
  template <size_t N>
  bool BindTo(const PyArgs& args, std::string_view what, const std::string_view (&names)[N], size_t required,
              const PyValue* (&out)[N]) {
    return BindArguments(args, what, names, required, out, diagnostics_);
  }
  bool ReadStrides(const PyValue& value, tir::BufferSpec& spec, std::string_view what);
};

}  // namespace iropt::text
