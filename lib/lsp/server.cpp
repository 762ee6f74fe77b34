#include "iropt/lsp/server.h"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "background_work.h"
#include "client_process.h"
#include "document.h"
#include "features.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/support/version.h"
#include "message_stream.h"
#include "virtual_documents.h"
#include "workspace_files.h"

namespace iropt::lsp {

namespace {

using Clock = std::chrono::steady_clock;

// Drops the diagnostics of plugins and of the pipelines of the server itself, which nobody reads.
class NoConsumer : public DiagnosticConsumer {
 public:
  void Consume(const Diagnostic& /*diagnostic*/) override {}
};

class Server {
 public:
  Server(int in, int out, const ServerOptions& options)
      : threads_(options.threads > 0 ? options.threads
                                     : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
        compiler_({}, consumer_),
        writer_(out),
        background_(options.limits, writer_),
        reader_(in) {
    const Status loaded = compiler_.LoadPlugins(options.plugins);
    if (!loaded.ok()) Log(loaded.error().message);
    AddLifeCycle();
    AddNavigation();
    AddCalls();
    AddInformation();
    AddStructure();
    AddVirtualDocuments();
  }

  int Run() {
    while (!exit_ && !client_.is_dead() && !reader_.AtEnd()) {
      std::optional<Json> message = reader_.Next();
      if (message) {
        Handle(*message);
        // While more changes wait, diagnostics of this one would only delay them.
        if (!reader_.HasMore() || Clock::now() - oldest_change_ > kLongestDelay) PublishDiagnostics();
      }
      std::vector<pollfd> inputs = {{.fd = reader_.descriptor(), .events = POLLIN, .revents = 0},
                                    {.fd = client_.descriptor(), .events = POLLIN, .revents = 0}};
      background_.Poll(inputs, /*wait=*/!message && !exit_);
      client_.Update(inputs[1]);
    }
    return shut_down_ ? 0 : 1;
  }

 private:
  using Handler = std::function<Json(Json& params)>;
  // What is left to do of a request, in another process; `source` is the document that must not change meanwhile.
  struct Work {
    std::string title;
    std::string source;
    std::function<Json()> answer;
  };
  using Starter = std::function<Work(const Json& params)>;
  static constexpr auto kLongestDelay = std::chrono::milliseconds(25);

  // ---- Messages

  void Handle(Json& message) {
    if (!message.is_object()) return Answer(nullptr, {RequestError::kParseError, "the message is not a JSON object"});
    const bool is_request = message.contains("id");
    const Json id = message.value("id", Json());
    if (id.is_structured() || id.is_boolean())
      return Answer(nullptr, {RequestError::kInvalidRequest, "the id is not a number or a string"});
    if (!message.contains("method")) return background_.TakeAnswer(message);
    if (is_request && reader_.TakeCancelled(id)) return Answer(id, Cancelled());
    const Json method = message["method"];
    if (!method.is_string()) {
      if (is_request) Answer(id, {RequestError::kInvalidRequest, "the method is not a string"});
      return;
    }
    if (message.value("params", Json()).is_null()) message["params"] = Json::object();
    HandleCall(method.get_ref<const std::string&>(), message["params"], is_request ? std::optional(id) : std::nullopt);
  }

  // Without an id, it is a notification.
  void HandleCall(const std::string& method, Json& params, const std::optional<Json>& id) {
    const auto starter = starters_.find(method);
    const bool in_background = id && starter != starters_.end();
    Work work;
    Json outcome = OutcomeOf([&]() -> Json {
      CheckState(method, id.has_value());
      if (!in_background) return Dispatch(method, params, id.has_value());
      work = starter->second(params);
      return nullptr;
    });
    if (!id) return;
    if (!in_background || outcome.contains("error")) return WriteOutcome(*id, std::move(outcome));
    const auto token = params.is_object() ? params.value("workDoneToken", Json()) : Json();
    background_.Add({*id, std::move(work.title), std::move(work.source), token.is_structured() ? Json() : token,
                     [answer = std::move(work.answer)] { return OutcomeOf(answer); }});
  }

  // The member "result" or "error" of the answer.
  static Json OutcomeOf(const std::function<Json()>& answer) {
    RequestError failure;
    try {
      return {{"result", answer()}};
    } catch (const RequestError& error) {
      failure = error;
    } catch (const Json::exception& error) {
      failure = {RequestError::kInvalidParams, fmt::format("malformed parameters: {}", error.what())};
    } catch (const std::bad_alloc&) {
      failure = {RequestError::kRequestFailed, "out of memory: ir-lsp -run-memory limits what a run may allocate"};
    } catch (const std::exception& error) {
      failure = {RequestError::kInternalError, error.what()};
    }
    return {{"error", ToJson(failure)}};
  }

  void WriteOutcome(const Json& id, Json outcome) {
    outcome["jsonrpc"] = "2.0";
    outcome["id"] = id;
    writer_.Write(outcome);
  }

  void Answer(const Json& id, const RequestError& error) { WriteOutcome(id, {{"error", ToJson(error)}}); }

  // Throws if the method does not fit the life cycle.
  void CheckState(const std::string& method, bool is_request) {
    if (method == "exit") return;
    if (shut_down_) throw RequestError{RequestError::kInvalidRequest, "the server was shut down"};
    const bool initializes = method == "initialize";
    if (initializes && initialized_)
      throw RequestError{RequestError::kInvalidRequest, "the server was initialized before"};
    const bool is_known = !is_request || handlers_.contains(method) || starters_.contains(method);
    if (!initializes && !initialized_ && is_known)
      throw RequestError{RequestError::kNotInitialized, "the first request must be 'initialize'"};
  }

  Json Dispatch(const std::string& method, Json& params, bool is_request) {
    // Methods of the protocol itself are notifications.
    const auto handler = is_request && method.starts_with("$/") ? handlers_.end() : handlers_.find(method);
    if (handler != handlers_.end()) return handler->second(params);
    if (is_request) throw RequestError{RequestError::kMethodNotFound, fmt::format("unknown method '{}'", method)};
    return nullptr;
  }

  void Notify(std::string_view method, Json params) {
    writer_.Write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }

  void Log(std::string_view text) {
    constexpr int kWarning = 2;
    Notify("window/logMessage", {{"type", kWarning}, {"message", text}});
  }

  void On(std::string method, Handler handler) { handlers_.emplace(std::move(method), std::move(handler)); }
  void OnLong(std::string method, Starter starter) { starters_.emplace(std::move(method), std::move(starter)); }

  // ---- Documents

  Document& DocumentOf(const Json& params) {
    const auto& uri = params.at("textDocument").at("uri").get_ref<const std::string&>();
    const auto found = documents_.find(uri);
    if (found == documents_.end())
      throw RequestError{RequestError::kInvalidParams, fmt::format("the document '{}' is not open", uri)};
    return *found->second;
  }

  void Changed(Document& document) {
    background_.DropAllOf(document.uri());
    if (changed_.empty()) oldest_change_ = Clock::now();
    changed_.insert({document.uri(), &document});
  }

  void PublishDiagnostics() {
    for (const auto& [uri, document] : std::exchange(changed_, {})) {
      const IRContext::Scope scope(document->analysis().context());
      Notify("textDocument/publishDiagnostics", {{"uri", uri},
                                                 {"version", document->version()},
                                                 {"diagnostics", Diagnostics(*document, compiler_.registry())}});
      RefreshShown(uri);
    }
  }

  // A request about a document, or about a place in it.
  template <class F>
  void OnDocument(const std::string& method, F answer) {
    On(method, [this, answer](const Json& params) -> Json {
      Document& document = DocumentOf(params);
      const IRContext::Scope scope(document.analysis().context());
      return answer(document, params);
    });
  }
  template <class F>
  void OnPosition(std::string method, F answer) {
    OnDocument(std::move(method), [answer](Document& document, const Json& params) -> Json {
      return answer(document, document.text().OffsetOf(PositionFrom(params.at("position"))), params);
    });
  }

  static DocumentKind KindOf(std::string_view uri, std::string_view language) {
    if (language == "json" || uri.ends_with(".json")) return DocumentKind::kPipeline;
    return language == "python" ? DocumentKind::kPython : DocumentKind::kScript;
  }

  // All parameters are read before the document is entered, or changed: wrong ones change nothing.
  void Open(Json& params) {
    Json& item = params.at("textDocument");
    const auto uri = item.at("uri").get<std::string>();
    const auto version = item.value("version", int64_t{0});
    auto document = std::make_unique<Document>(uri, KindOf(uri, item.value("languageId", "")),
                                               std::move(item.at("text").get_ref<std::string&>()), version, threads_);
    changed_.erase(uri);
    documents_[uri] = std::move(document);
    Changed(*documents_[uri]);
  }

  void Change(const Json& params) {
    struct Edit {
      std::optional<Range> range;
      const std::string& text;
    };
    Document& document = DocumentOf(params);
    const auto version = params.at("textDocument").value("version", document.version() + 1);
    std::vector<Edit> edits;
    for (const Json& change : params.at("contentChanges")) {
      const auto range = change.contains("range") ? std::optional(RangeFrom(change["range"])) : std::nullopt;
      edits.push_back({range, change.at("text").get_ref<const std::string&>()});
    }
    for (const Edit& edit : edits) {
      if (edit.range) {
        document.Replace(document.text().SpanOf(*edit.range), edit.text);
      } else {
        document.SetText(edit.text);
      }
    }
    document.set_version(version);
    Changed(document);
  }

  void Close(const Json& params) {
    const std::string uri = DocumentOf(params).uri();
    changed_.erase(uri);
    background_.DropAllOf(uri);
    documents_.erase(uri);
    Notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
  }

  // ---- Handlers

  void AddLifeCycle() {
    On("initialize", [this](const Json& params) { return Initialize(params); });
    On("initialized", [](const Json&) -> Json { return nullptr; });
    On("shutdown", [this](const Json&) -> Json {
      background_.CancelAll();
      shut_down_ = true;
      return nullptr;
    });
    On(std::string(kCancelRequest),
       [this](const Json& params) -> Json { return CancelRequest(params.at("id")), nullptr; });
    On("exit", [this](const Json&) -> Json {
      exit_ = true;
      return nullptr;
    });
    On("textDocument/didOpen", [this](Json& params) -> Json { return Open(params), nullptr; });
    On("textDocument/didChange", [this](const Json& params) -> Json { return Change(params), nullptr; });
    On("textDocument/didClose", [this](const Json& params) -> Json { return Close(params), nullptr; });
    On("textDocument/didSave", [](const Json&) -> Json { return nullptr; });
    On("$/setTrace", [](const Json&) -> Json { return nullptr; });
    On("window/workDoneProgress/cancel",
       [this](const Json& params) -> Json { return background_.CancelProgress(params.at("token")), nullptr; });
  }

  void CancelRequest(const Json& id) {
    // It was handled before, or it is one of these.
    reader_.TakeCancelled(id);
    background_.Cancel(id);
  }

  Json Initialize(const Json& params) {
    constexpr int kIncremental = 2;
    const auto process = params.find("processId");
    const std::optional<int64_t> client =
        process != params.end() && process->is_number_integer() ? std::optional(process->get<int64_t>()) : std::nullopt;
    const Json capabilities = params.value("capabilities", Json::object());
    if (capabilities.value("/window/workDoneProgress"_json_pointer, false)) background_.ShowProgress();
    files_.SetFolders(params);
    if (client) client_.Watch(*client);
    initialized_ = true;
    const Json tokens = {{"legend", SemanticTokensLegend()}, {"full", true}, {"range", true}};
    return {{"serverInfo", {{"name", "ir-lsp"}, {"version", IROPT_VERSION}}},
            {"capabilities",
             {{"positionEncoding", "utf-16"},
              {"textDocumentSync", {{"openClose", true}, {"change", kIncremental}, {"save", true}}},
              {"hoverProvider", true},
              {"completionProvider", {{"triggerCharacters", {".", "\"", "=", "@"}}}},
              {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
              {"definitionProvider", true},
              {"referencesProvider", true},
              {"documentHighlightProvider", true},
              {"documentSymbolProvider", true},
              {"workspaceSymbolProvider", true},
              {"codeActionProvider",
               {{"codeActionKinds", {"quickfix", "refactor.rewrite", "source"}}, {"resolveProvider", true}}},
              {"documentFormattingProvider", true},
              {"callHierarchyProvider", true},
              {"renameProvider", {{"prepareProvider", true}}},
              {"foldingRangeProvider", true},
              {"inlayHintProvider", true},
              {"codeLensProvider", Json::object()},
              {"semanticTokensProvider", tokens}}}};
  }

  void AddNavigation() {
    OnPosition("textDocument/definition", [](Document& d, uint32_t at, const Json&) { return Definition(d, at); });
    OnPosition("textDocument/references", [](Document& d, uint32_t at, const Json& params) {
      return References(d, at, params.value("context", Json::object()).value("includeDeclaration", true));
    });
    OnPosition("textDocument/documentHighlight",
               [](Document& d, uint32_t at, const Json&) { return Highlights(d, at); });
    OnPosition("textDocument/prepareRename",
               [](Document& d, uint32_t at, const Json&) { return PrepareRename(d, at); });
    OnPosition("textDocument/rename", [](Document& d, uint32_t at, const Json& params) {
      return Rename(d, at, params.at("newName").get_ref<const std::string&>());
    });
  }

  void AddCalls() {
    OnPosition("textDocument/prepareCallHierarchy",
               [](Document& d, uint32_t at, const Json&) { return PrepareCallHierarchy(d, at); });
    const auto on_item = [this](std::string method, Json (*answer)(Document&, uint32_t)) {
      On(std::move(method), [this, answer](const Json& params) -> Json {
        const Json& item = params.at("item");
        Document& document = DocumentOf({{"textDocument", {{"uri", item.at("uri")}}}});
        const IRContext::Scope scope(document.analysis().context());
        return answer(document, document.text().OffsetOf(RangeFrom(item.at("selectionRange")).start));
      });
    };
    on_item("callHierarchy/incomingCalls", IncomingCalls);
    on_item("callHierarchy/outgoingCalls", OutgoingCalls);
  }

  void AddInformation() {
    const PassRegistry& registry = compiler_.registry();
    OnPosition("textDocument/hover",
               [&registry](Document& d, uint32_t at, const Json&) { return Hover(d, at, registry); });
    OnPosition("textDocument/completion",
               [&registry](Document& d, uint32_t at, const Json&) { return Completion(d, at, registry); });
    OnPosition("textDocument/signatureHelp",
               [](Document& d, uint32_t at, const Json&) { return SignatureHelp(d, at); });
    OnLong("codeAction/resolve", [this](const Json& action) -> Work {
      if (!action.contains("data")) return {"", "", [action] { return action; }};
      const Json params = {{"textDocument", {{"uri", action["data"].at("uri")}}}};
      return {"CHECK lines", DocumentOf(params).uri(), [this, params, action] {
                Document& document = DocumentOf(params);
                const IRContext::Scope scope(document.analysis().context());
                return ResolveCodeAction(document, action);
              }};
    });
    OnDocument("textDocument/inlayHint", [](Document& d, const Json& params) {
      return InlayHints(d, d.text().SpanOf(RangeFrom(params.at("range"))));
    });
    OnDocument("textDocument/codeAction", [&registry](Document& d, const Json& params) {
      return CodeActions(d, d.text().SpanOf(RangeFrom(params.at("range"))), registry);
    });
  }

  void AddStructure() {
    OnDocument("textDocument/documentSymbol", [](Document& d, const Json&) { return DocumentSymbols(d); });
    OnDocument("textDocument/foldingRange", [](Document& d, const Json&) { return FoldingRanges(d); });
    OnDocument("textDocument/formatting", [](Document& d, const Json&) { return Formatting(d); });
    OnDocument("textDocument/semanticTokens/full", [](Document& d, const Json&) {
      return SemanticTokens(d, {0, d.text().size()});
    });
    OnDocument("textDocument/semanticTokens/range", [](Document& d, const Json& params) {
      return SemanticTokens(d, d.text().SpanOf(RangeFrom(params.at("range"))));
    });
    OnDocument("textDocument/codeLens", [](Document& d, const Json&) { return CodeLenses(d); });
    On("workspace/symbol", [this](const Json& params) -> Json {
      Json symbols = Json::array();
      const std::string query = params.value("query", "");
      for (const auto& [uri, document] : documents_) {
        const IRContext::Scope scope(document->analysis().context());
        AddWorkspaceSymbols(*document, query, symbols);
      }
      files_.AddSymbols(
          query, [this](const std::string& uri) { return documents_.contains(uri); }, symbols);
      return symbols;
    });
  }

  // ---- Virtual documents

  void AddVirtualDocuments() {
    OnLong("ir/content", [this](const Json& params) { return Content(params.at("uri").get<std::string>()); });
    OnLong("ir/passes", [this](const Json& params) { return Passes(params); });
    On("workspace/didChangeWatchedFiles", [this](const Json& params) -> Json {
      for (const Json& change : params.at("changes")) {
        const auto& uri = change.at("uri").get_ref<const std::string&>();
        if (!documents_.contains(uri)) RefreshShown(uri);
      }
      return nullptr;
    });
  }

  template <class T>
  static T ValueOf(Result<T> result) {
    if (!result.ok()) throw RequestError{RequestError::kRequestFailed, result.error().message};
    return *std::move(result);
  }

  Work Passes(const Json& params) {
    Document& document = DocumentOf(params);
    const std::string pipeline = params.value("passes", PipelineOf(document));
    const std::optional<size_t> part =
        params.contains("part") ? std::optional(params["part"].get<size_t>()) : std::nullopt;
    return {fmt::format("passes of {}", document.uri()), "",
            [uri = document.uri(), text = document.text().text(), pipeline, part] {
              return ValueOf(ListSteps(uri, text, pipeline, part));
            }};
  }

  Work Content(const std::string& text) {
    const std::optional<VirtualUri> uri = VirtualUri::Parse(text);
    if (!uri) throw RequestError{RequestError::kInvalidParams, fmt::format("'{}' is not a virtual document", text)};
    const std::optional<std::vector<std::string>> sources = SourcesOf(*uri);
    if (!sources) throw RequestError{RequestError::kInvalidParams, "the document is made of others in too many steps"};
    for (const std::string& source : *sources) shown_[source].insert(text);
    return {fmt::format("{} {}", ViewOf(uri->kind).name, uri->title), "",
            [this, uri = *uri] { return ContentOf(uri); }};
  }

  Json ContentOf(const VirtualUri& uri) {
    Result<std::string> content = MakeContent(uri, [this](const std::string& source) {
      const auto open = documents_.find(source);
      return open == documents_.end() ? std::nullopt : std::optional(open->second->text().text());
    });
    return {{"text", ValueOf(std::move(content))}, {"language", ViewOf(uri.kind).language}};
  }

  // Documents made of one that changed are out of date; the client asks again for those that it shows.
  void RefreshShown(const std::string& source) {
    const auto shown = shown_.find(source);
    if (shown == shown_.end()) return;
    for (const std::string& uri : std::exchange(shown->second, {})) Notify("ir/contentChanged", {{"uri", uri}});
    shown_.erase(shown);
  }

  const int threads_;
  WorkspaceFiles files_;
  NoConsumer consumer_;
  CompilerInstance compiler_;
  std::map<std::string, Handler, std::less<>> handlers_;
  std::map<std::string, Starter, std::less<>> starters_;  // of requests that take longer than a keystroke
  std::map<std::string, std::unique_ptr<Document>, std::less<>> documents_;
  std::map<std::string, Document*, std::less<>> changed_;            // whose diagnostics are out of date
  std::map<std::string, std::set<std::string>, std::less<>> shown_;  // virtual documents by their sources
  Clock::time_point oldest_change_;
  bool initialized_ = false;
  bool shut_down_ = false;
  bool exit_ = false;
  ClientProcess client_;
  MessageWriter writer_;
  BackgroundWork background_;
  MessageReader reader_;
};

}  // namespace

int RunServer(int in, int out, const ServerOptions& options) { return Server(in, out, options).Run(); }

}  // namespace iropt::lsp
