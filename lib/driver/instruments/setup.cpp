#include "driver/instruments/setup.h"

#include <fmt/format.h>

#include "iropt/observe/ir_printer.h"

namespace iropt {

Status InstrumentSetup::Make(const OwnInstrument& row, const InstrumentSpec& spec) {
  row_ = &row;
  span_ = spec.span;
  return row.make(CheckedOptions(fmt::format("instrument '{}'", spec.name), spec.options), *this);
}

std::shared_ptr<const IrPrinter> InstrumentSetup::MakePrinter() const {
  return std::make_shared<const IrPrinter>(compiler(), pipeline_.filter(), pipeline_.selection().NumberPasses());
}

Result<std::unique_ptr<AtomicFile>> InstrumentSetup::Open(std::string_view owner, const std::string& path,
                                                          const FileKind& kind) {
  if (path.empty())
    return Refuse(span_, fmt::format("instrument '{}' needs the option 'file'", row_->name)).TakeErrorPtr();
  IROPT_ASSIGN_OR_RETURN(AtomicFile file, files_.Open(owner, path, kind));
  return std::make_unique<AtomicFile>(std::move(file));
}

Status InstrumentSetup::Refuse(SourceSpan part, std::string message) const {
  compiler().diagnostics().Error(part, "usage", std::move(message));
  return Failure{ErrorCode::Usage};
}

}  // namespace iropt
