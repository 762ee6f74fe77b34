// Instruments that print modules.
#include "driver/instruments/setup.h"
#include "instrument_options/PrintAfter.h"
#include "instrument_options/PrintBefore.h"
#include "instrument_options/PrintChanged.h"
#include "iropt/observe/ir_printer.h"
#include "iropt/observe/print_changed.h"
#include "iropt/observe/trace_printer.h"
#include "iropt/pass/print_instruments.h"

namespace iropt {

namespace {

template <class Instrument>
Status AddPrinter(const std::vector<LocatedName>& passes, InstrumentSetup& setup) {
  IROPT_ASSIGN_OR_RETURN(PassFilter filter, setup.pipeline().selection().FilterOf(passes));
  const ModulePrinter print = [printer = setup.MakePrinter()](const Module& module, const std::string& heading) {
    return printer->Print(module, heading);
  };
  setup.Add(std::make_shared<Instrument>(std::move(filter), print));
  return {};
}

ChangePrinting WayOf(instrument_options::PrintChanged::Mode mode) {
  using Mode = instrument_options::PrintChanged::Mode;
  switch (mode) {
    case Mode::kAll: return ChangePrinting::All;
    case Mode::kQuiet: return ChangePrinting::Quiet;
    case Mode::kDiff: return ChangePrinting::Diff;
    case Mode::kCdiff: break;
  }
  return ChangePrinting::ColourDiff;
}

}  // namespace

Status MakePrintBefore(const CheckedOptions& options, InstrumentSetup& setup) {
  return AddPrinter<PrintIRBefore>(*instrument_options::PrintBefore(options).passes, setup);
}

Status MakePrintAfter(const CheckedOptions& options, InstrumentSetup& setup) {
  return AddPrinter<PrintIRAfter>(*instrument_options::PrintAfter(options).passes, setup);
}

Status MakePrintChanged(const CheckedOptions& options, InstrumentSetup& setup) {
  const ChangePrinting way = WayOf(*instrument_options::PrintChanged(options).mode);
  setup.Add(std::make_shared<PrintChanged>(way, setup.MakePrinter(), setup.compiler()));
  return {};
}

Status MakePrintTrace(const CheckedOptions& /*options*/, InstrumentSetup& setup) {
  setup.Add(std::make_shared<TracePrinter>(setup.compiler().err()));
  return {};
}

}  // namespace iropt
