// Requests that take longer than a keystroke. Processes of their own answer them, so that other requests need not wait,
// and so that they can crash, be cancelled and be limited in time and memory.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/lsp/server.h"
#include "iropt/support/child_process.h"
#include "message_stream.h"
#include "protocol.h"

namespace iropt::lsp {

struct BackgroundRequest {
  Json id;
  std::string title;             // for the user
  std::string source;            // the URI of the document that must not change meanwhile; empty: none
  Json progress_token;           // of the client; null: none
  std::function<Json()> answer;  // an object with the result or the error; called in another process
};

class BackgroundWork {
 public:
  BackgroundWork(const BackgroundLimits& limits, MessageWriter& writer) : limits_(limits), writer_(writer) {}

  // The client shows the progress of what the server does by itself.
  void ShowProgress() { shows_progress_ = true; }
  // Starts the work, or lets it wait for others.
  void Add(BackgroundRequest request);

  // Answer the requests with that error.
  void Cancel(const Json& id);
  void CancelProgress(const Json& token);
  void CancelAll();
  void DropAllOf(const std::string& source);
  // The client has answered a request of the server.
  void TakeAnswer(const Json& message);

  // Finds out which of the descriptors can be read, and answers the requests whose work is done. If `wait` is set,
  // waits until there is one. Adds descriptors of its own.
  void Poll(std::vector<pollfd>& descriptors, bool wait);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Progress : uint8_t { kNone, kAsked, kShown };
  struct Run {
    BackgroundRequest request;
    std::optional<ChildProcess> child = {};  // none while it waits
    Clock::time_point started = {};
    Progress progress = Progress::kNone;
  };
  using Runs = std::list<Run>;
  using Seconds = std::chrono::duration<double>;

  static Seconds AgeOf(const Run& run) { return Clock::now() - run.started; }

  void StartNext();
  // Returns the error that keeps it from starting, if any.
  Status Start(Run& run);
  // Answers the request.
  Runs::iterator End(Runs::iterator run, Json outcome);
  void EndIf(const std::function<bool(const Run&)>& condition, const RequestError& error);
  // Ends the run if its process has ended.
  void ReadFrom(int descriptor);
  void CheckTimes();
  // Until CheckTimes has something to do; -1: never.
  int MillisecondsToWait() const;
  void AskForProgress(Run& run);
  void BeginProgress(Run& run);
  void ReportProgress(const Run& run, Json value);

  BackgroundLimits limits_;
  MessageWriter& writer_;
  bool shows_progress_ = false;
  int64_t num_tokens_ = 0;
  Runs runs_;
};

}  // namespace iropt::lsp
