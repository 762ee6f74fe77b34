#include "ir-opt/man_page.h"

#include <fmt/format.h>

#include "cli/man_page.h"
#include "ir-opt/flag_table.h"
#include "ir-opt/topics.h"
#include "iropt/driver/catalog.h"

namespace iropt {

namespace {

std::string RenderPassEntries(const PassRegistry& registry) {
  std::string out;
  for (const auto& [name, row] : registry.passes()) {
    out += ManEntry(fmt::format("{} (-O{})", name, row.info.opt_level), row.summary);
  }
  return out;
}

std::string RenderInstrumentEntries(const PassRegistry& registry) {
  std::string out;
  for (const CatalogEntry& instrument : Instruments(registry)) out += ManEntry(instrument.name, instrument.summary);
  return out;
}

}  // namespace

std::string RenderIrOptManPage(const PassRegistry& registry) {
  const ManSection sections[] = {{"PIPELINES", ManVerbatim(kPipelines)},
                                 {"PASSES", RenderPassEntries(registry)},
                                 {"INSTRUMENTS", RenderInstrumentEntries(registry)}};
  return RenderManPage(Description(), sections);
}

}  // namespace iropt
