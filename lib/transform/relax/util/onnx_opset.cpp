#include "onnx_opset.h"

#include "iropt/ir/attr.h"
#include "iropt/ir/attr_keys.h"

namespace iropt {

// The format of files that came with the operator set.
static constexpr int64_t kIrOfBlocks = 10;

void RequireOpset(Module& module, int64_t version, bool contributes) {
  const auto* model = As<DictAttr>(module.attrs()->Find(attr::kOnnxModel));
  const auto* opsets = model ? As<DictAttr>(model->Find("opset_import")) : nullptr;
  if (opsets == nullptr) return;
  for (const std::string_view domain : {"", "ai.onnx"}) {
    const auto* now = As<IntAttr>(opsets->Find(domain));
    if (now == nullptr || now->value >= version) continue;
    opsets = opsets->With(domain, IntAttr::Get(version));
    const auto* format = As<IntAttr>(model->Find("ir_version"));
    if (version >= kOpsetOfBlocks && format && format->value < kIrOfBlocks)
      model = model->With("ir_version", IntAttr::Get(kIrOfBlocks));
  }
  if (contributes && opsets->Find("com.microsoft") == nullptr) opsets = opsets->With("com.microsoft", IntAttr::Get(1));
  module.set_attrs(module.attrs()->With(attr::kOnnxModel, model->With("opset_import", opsets)));
}

}  // namespace iropt
