#include <fmt/format.h>

#include "driver/instruments/setup.h"
#include "driver/pipeline/pipeline_trace.h"
#include "instrument_options/ExplainPipeline.h"

namespace iropt {

namespace {

class ExplainListener : public RunListener {
 public:
  // Null without a pipeline.
  ExplainListener(CompilerInstance& compiler, std::shared_ptr<PipelineTrace> trace, bool is_json)
      : compiler_(compiler), trace_(std::move(trace)), is_json_(is_json) {}

  void EndPasses(std::string_view subject) override {
    compiler_.err().Append(Render(std::string(subject)));
    static_cast<void>(compiler_.err().Flush());
  }

 private:
  std::string Render(const std::string& subject) const {
    if (is_json_) return trace_ ? trace_->RenderJson(subject) : PipelineTrace::RenderNothing(subject);
    if (!trace_) return "nothing to run: neither -passes nor -pipeline nor -O is given\n";
    return (compiler_.chunk().empty() ? "" : fmt::format("{}\n", subject)) + trace_->Render();
  }

  CompilerInstance& compiler_;
  std::shared_ptr<PipelineTrace> trace_;
  bool is_json_;
};

}  // namespace

Status MakeExplainPipeline(const CheckedOptions& options, InstrumentSetup& setup) {
  using Options = instrument_options::ExplainPipeline;
  const PipelineSettings& pipeline = setup.pipeline().settings();
  std::shared_ptr<PipelineTrace> trace;
  if (pipeline.pass() != nullptr) {
    trace = std::make_shared<PipelineTrace>(pipeline.context(), pipeline.Origins(), *pipeline.pass());
    setup.Add(trace);
  }
  const bool is_json = *Options(options).format == Options::Format::kJson;
  setup.Listen(std::make_shared<ExplainListener>(setup.compiler(), std::move(trace), is_json));
  return {};
}

}  // namespace iropt
