#include "background_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace iropt::lsp {

namespace {

// More would slow down each other, and what the user types.
constexpr int64_t kMostAtOnce = 2;
// Of a run whose progress is shown.
constexpr std::chrono::duration<double> kLongRun{1};

Json OutcomeOf(const ChildReport& report) {
  const auto failed = [](std::string message) {
    return Json{{"error", ToJson(RequestError{RequestError::kRequestFailed, std::move(message)})}};
  };
  if (!report.crash.empty()) return failed(fmt::format("the run {}", report.crash));
  Json outcome = Json::parse(report.text, nullptr, /*allow_exceptions=*/false);
  return outcome.is_object() ? outcome : failed("the run gave no result");
}

}  // namespace

void BackgroundWork::Add(BackgroundRequest request) {
  runs_.push_back({std::move(request)});
  StartNext();
}

void BackgroundWork::StartNext() {
  auto running = std::ranges::count_if(runs_, [](const Run& run) { return run.child.has_value(); });
  for (auto run = runs_.begin(); run != runs_.end() && running < kMostAtOnce;) {
    if (run->child) {
      ++run;
      continue;
    }
    const Status started = Start(*run);
    if (started.ok()) {
      ++running;
      ++run;
    } else {
      run = End(run, {{"error", ToJson(RequestError{RequestError::kRequestFailed, started.error().message})}});
    }
  }
}

Status BackgroundWork::Start(Run& run) {
  const auto work = [&](OutputStream& out) { out.Append(Dump(run.request.answer())); };
  IROPT_ASSIGN_OR_RETURN(run.child, ChildProcess::Start(work, limits_.memory_bytes));
  run.started = Clock::now();
  if (!run.request.progress_token.is_null()) BeginProgress(run);
  return {};
}

BackgroundWork::Runs::iterator BackgroundWork::End(Runs::iterator run, Json outcome) {
  run->child.reset();  // so that nothing runs when the client has the answer
  if (run->progress == Progress::kShown) ReportProgress(*run, {{"kind", "end"}});
  outcome["jsonrpc"] = "2.0";
  outcome["id"] = run->request.id;
  writer_.Write(outcome);
  return runs_.erase(run);
}

void BackgroundWork::EndIf(const std::function<bool(const Run&)>& condition, const RequestError& error) {
  for (auto run = runs_.begin(); run != runs_.end();)
    run = condition(*run) ? End(run, {{"error", ToJson(error)}}) : std::next(run);
  StartNext();
}

void BackgroundWork::Cancel(const Json& id) {
  EndIf([&](const Run& run) { return run.request.id == id; }, Cancelled());
}

void BackgroundWork::CancelProgress(const Json& token) {
  EndIf([&](const Run& run) { return !token.is_null() && run.request.progress_token == token; }, Cancelled());
}

void BackgroundWork::CancelAll() {
  while (!runs_.empty()) End(runs_.begin(), {{"error", ToJson(Cancelled())}});
}

void BackgroundWork::DropAllOf(const std::string& source) {
  EndIf([&](const Run& run) { return run.request.source == source; },
        {RequestError::kContentModified, "the document has changed"});
}

// ---- Progress

void BackgroundWork::AskForProgress(Run& run) {
  run.progress = Progress::kAsked;
  run.request.progress_token = fmt::format("ir-lsp/{}", ++num_tokens_);
  writer_.Write({{"jsonrpc", "2.0"},
                 {"id", run.request.progress_token},
                 {"method", "window/workDoneProgress/create"},
                 {"params", {{"token", run.request.progress_token}}}});
}

void BackgroundWork::TakeAnswer(const Json& message) {
  if (message.contains("error")) return;
  for (Run& run : runs_)
    if (run.progress == Progress::kAsked && run.request.progress_token == message["id"]) BeginProgress(run);
}

void BackgroundWork::BeginProgress(Run& run) {
  run.progress = Progress::kShown;
  ReportProgress(run, {{"kind", "begin"}, {"title", run.request.title}, {"cancellable", true}});
}

void BackgroundWork::ReportProgress(const Run& run, Json value) {
  writer_.Write({{"jsonrpc", "2.0"},
                 {"method", "$/progress"},
                 {"params", {{"token", run.request.progress_token}, {"value", std::move(value)}}}});
}

// ---- Time

void BackgroundWork::CheckTimes() {
  for (Run& run : runs_) {
    const bool is_long = run.child && AgeOf(run) >= kLongRun;
    if (is_long && shows_progress_ && run.request.progress_token.is_null()) AskForProgress(run);
  }
  if (limits_.seconds <= 0) return;
  EndIf([&](const Run& run) { return run.child && AgeOf(run) >= Seconds(limits_.seconds); },
        {RequestError::kRequestFailed,
         fmt::format("the run was stopped after {:g} seconds, the limit of ir-lsp -run-timeout", limits_.seconds)});
}

int BackgroundWork::MillisecondsToWait() const {
  std::optional<Seconds> shortest;
  for (const Run& run : runs_) {
    if (!run.child) continue;
    const Seconds age = AgeOf(run);
    const bool will_ask = shows_progress_ && run.request.progress_token.is_null();
    if (will_ask) shortest = std::min(shortest.value_or(kLongRun), kLongRun - age);
    const Seconds left = Seconds(limits_.seconds) - age;
    if (limits_.seconds > 0) shortest = std::min(shortest.value_or(left), left);
  }
  if (!shortest) return -1;
  // A longer time ends early, which does no harm.
  constexpr double kMost = 1e9;
  return static_cast<int>(std::clamp(shortest->count() * 1000, 0.0, kMost)) + 1;
}

void BackgroundWork::ReadFrom(int descriptor) {
  const auto run = std::ranges::find_if(
      runs_, [&](const Run& candidate) { return candidate.child && candidate.child->descriptor() == descriptor; });
  if (run == runs_.end() || run->child->Read()) return;
  End(run, OutcomeOf(run->child->Finish()));
  StartNext();
}

void BackgroundWork::Poll(std::vector<pollfd>& descriptors, bool wait) {
  const size_t num_others = descriptors.size();
  for (const Run& run : runs_)
    if (run.child) descriptors.push_back({.fd = run.child->descriptor(), .events = POLLIN, .revents = 0});
  const int num_ready = poll(descriptors.data(), descriptors.size(), wait ? MillisecondsToWait() : 0);
  if (num_ready > 0) {
    for (size_t i = num_others; i < descriptors.size(); ++i)
      if (descriptors[i].revents != 0) ReadFrom(descriptors[i].fd);
  }
  CheckTimes();
}

}  // namespace iropt::lsp
