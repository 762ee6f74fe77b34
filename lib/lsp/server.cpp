#include "iropt/lsp/server.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

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
        reader_(in) {
    const Status loaded = compiler_.LoadPlugins(options.plugins);
    if (!loaded.ok()) Log(loaded.error().message);
    AddLifeCycle();
    AddNavigation();
    AddInformation();
    AddStructure();
    AddVirtualDocuments();
  }

  int Run() {
    while (!exit_) {
      std::optional<Json> message = reader_.Next();
      if (!message) break;
      Handle(*message);
      // While more changes wait, diagnostics of this one would only delay them.
      if (!reader_.HasMore() || Clock::now() - oldest_change_ > kLongestDelay) PublishDiagnostics();
    }
    return shut_down_ ? 0 : 1;
  }

 private:
  using Handler = std::function<Json(Json& params)>;
  static constexpr auto kLongestDelay = std::chrono::milliseconds(25);

  // ---- Messages

  void Handle(Json& message) {
    if (!message.is_object()) return Fail(nullptr, {RequestError::kParseError, "the message is not a JSON object"});
    const auto id = message.find("id");
    const auto method = message.find("method");
    if (method == message.end()) return;  // the answer to a request of the server
    const bool is_request = id != message.end();
    if (is_request && reader_.TakeCancelled(*id))
      return Fail(*id, {RequestError::kRequestCancelled, "the request was cancelled"});
    try {
      if (!message.contains("params")) message["params"] = Json::object();
      Json result = Dispatch(method->get<std::string>(), message["params"], is_request);
      if (is_request) writer_.Write({{"jsonrpc", "2.0"}, {"id", *id}, {"result", std::move(result)}});
    } catch (const RequestError& error) {
      if (is_request) Fail(*id, error);
    } catch (const Json::exception& error) {
      if (is_request) Fail(*id, {RequestError::kInvalidParams, fmt::format("malformed parameters: {}", error.what())});
    } catch (const std::exception& error) {
      if (is_request) Fail(*id, {RequestError::kInternalError, error.what()});
    }
  }

  Json Dispatch(const std::string& method, Json& params, bool is_request) {
    const auto handler = handlers_.find(method);
    if (handler == handlers_.end()) {
      if (is_request) throw RequestError{RequestError::kMethodNotFound, fmt::format("unknown method '{}'", method)};
      return nullptr;
    }
    if (!initialized_ && method != "initialize" && method != "exit") {
      throw RequestError{RequestError::kNotInitialized, "the first request must be 'initialize'"};
    }
    return handler->second(params);
  }

  void Fail(const Json& id, const RequestError& error) {
    writer_.Write({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", error.code}, {"message", error.message}}}});
  }

  void Notify(std::string_view method, Json params) {
    writer_.Write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }

  void Log(std::string_view text) {
    constexpr int kWarning = 2;
    Notify("window/logMessage", {{"type", kWarning}, {"message", text}});
  }

  void On(std::string method, Handler handler) { handlers_.emplace(std::move(method), std::move(handler)); }

  // ---- Documents

  Document& DocumentOf(const Json& params) {
    const auto& uri = params.at("textDocument").at("uri").get_ref<const std::string&>();
    const auto found = documents_.find(uri);
    if (found == documents_.end())
      throw RequestError{RequestError::kInvalidParams, fmt::format("the document '{}' is not open", uri)};
    return *found->second;
  }

  void Changed(Document& document) {
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

  void Open(Json& params) {
    Json& item = params.at("textDocument");
    const auto uri = item.at("uri").get<std::string>();
    const bool is_pipeline = item.value("languageId", "") == "json" || uri.ends_with(".json");
    changed_.erase(uri);
    auto& document = documents_[uri];
    document = std::make_unique<Document>(uri, is_pipeline ? DocumentKind::kPipeline : DocumentKind::kScript,
                                          std::move(item.at("text").get_ref<std::string&>()),
                                          item.value("version", int64_t{0}), threads_);
    Changed(*document);
  }

  void Change(const Json& params) {
    Document& document = DocumentOf(params);
    for (const Json& change : params.at("contentChanges")) {
      const auto& text = change.at("text").get_ref<const std::string&>();
      if (change.contains("range")) {
        document.Replace(document.text().SpanOf(RangeFrom(change["range"])), text);
      } else {
        document.SetText(text);
      }
    }
    document.set_version(params.at("textDocument").value("version", document.version() + 1));
    Changed(document);
  }

  void Close(const Json& params) {
    const std::string uri = DocumentOf(params).uri();
    changed_.erase(uri);
    documents_.erase(uri);
    Notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
  }

  // ---- Handlers

  void AddLifeCycle() {
    On("initialize", [this](const Json& params) { return Initialize(params); });
    On("initialized", [](const Json&) -> Json { return nullptr; });
    On("shutdown", [this](const Json&) -> Json {
      shut_down_ = true;
      return nullptr;
    });
    On("exit", [this](const Json&) -> Json {
      exit_ = true;
      return nullptr;
    });
    On("textDocument/didOpen", [this](Json& params) -> Json { return Open(params), nullptr; });
    On("textDocument/didChange", [this](const Json& params) -> Json { return Change(params), nullptr; });
    On("textDocument/didClose", [this](const Json& params) -> Json { return Close(params), nullptr; });
    On("textDocument/didSave", [](const Json&) -> Json { return nullptr; });
    On("$/setTrace", [](const Json&) -> Json { return nullptr; });
  }

  Json Initialize(const Json& params) {
    constexpr int kIncremental = 2;
    initialized_ = true;
    files_.SetFolders(params);
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

  void AddInformation() {
    const PassRegistry& registry = compiler_.registry();
    OnPosition("textDocument/hover",
               [&registry](Document& d, uint32_t at, const Json&) { return Hover(d, at, registry); });
    OnPosition("textDocument/completion",
               [&registry](Document& d, uint32_t at, const Json&) { return Completion(d, at, registry); });
    OnPosition("textDocument/signatureHelp",
               [](Document& d, uint32_t at, const Json&) { return SignatureHelp(d, at); });
    On("codeAction/resolve", [this](const Json& params) -> Json {
      if (!params.contains("data")) return params;
      Document& document = DocumentOf({{"textDocument", {{"uri", params["data"].at("uri")}}}});
      return ResolveCodeAction(document, params);
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
    On("ir/content", [this](const Json& params) { return Content(params.at("uri").get<std::string>()); });
    On("workspace/didChangeWatchedFiles", [this](const Json& params) -> Json {
      for (const Json& change : params.at("changes")) {
        const auto& uri = change.at("uri").get_ref<const std::string&>();
        if (!documents_.contains(uri)) RefreshShown(uri);
      }
      return nullptr;
    });
    OnDocument("ir/passes", [](Document& d, const Json& params) -> Json {
      const std::string pipeline = params.value("passes", PipelineOf(d));
      const std::optional<size_t> part =
          params.contains("part") ? std::optional(params["part"].get<size_t>()) : std::nullopt;
      Result<Json> steps = ListSteps(d.uri(), d.text().text(), pipeline, part);
      if (!steps.ok()) throw RequestError{RequestError::kRequestFailed, steps.error().message};
      return *std::move(steps);
    });
  }

  Json Content(const std::string& text) {
    const std::optional<VirtualUri> uri = VirtualUri::Parse(text);
    if (!uri) throw RequestError{RequestError::kInvalidParams, fmt::format("'{}' is not a virtual document", text)};
    const Result<std::string> content = MakeContent(*uri, [this](const std::string& source) {
      const auto open = documents_.find(source);
      return open == documents_.end() ? std::nullopt : std::optional(open->second->text().text());
    });
    if (!content.ok()) throw RequestError{RequestError::kRequestFailed, content.error().message};
    for (const std::string& source : SourcesOf(*uri)) shown_[source].insert(text);
    const std::string_view language = uri->kind == "diff" ? "diff" : uri->kind == "run" ? "plaintext" : "tvmscript";
    return {{"text", *content}, {"language", language}};
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
  std::map<std::string, std::unique_ptr<Document>, std::less<>> documents_;
  std::map<std::string, Document*, std::less<>> changed_;            // whose diagnostics are out of date
  std::map<std::string, std::set<std::string>, std::less<>> shown_;  // virtual documents by their sources
  Clock::time_point oldest_change_;
  bool initialized_ = false;
  bool shut_down_ = false;
  bool exit_ = false;
  MessageWriter writer_;
  MessageReader reader_;
};

}  // namespace

int RunServer(int in, int out, const ServerOptions& options) { return Server(in, out, options).Run(); }

}  // namespace iropt::lsp
