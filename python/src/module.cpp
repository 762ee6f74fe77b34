#include "module.h"

#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "iropt/analysis/relax/file_bytes.h"
#include "iropt/analysis/well_formed.h"
#include "iropt/driver/foreign_files.h"
#include "iropt/exchange/formats.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/structural.h"
#include "iropt/support/file.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"
#include "iropt/transform/relax/rename_globals.h"
#include "name_walk.h"
#include "script_host.h"
#include "values.h"

namespace iropt::python {

namespace {

// ---- Reading

// The version of texts that could be of every one: that which the process was told.
std::optional<TextVersion>& UnknownVersion() {
  static std::optional<TextVersion> version;
  return version;
}

struct SourceText {
  std::string name;
  std::string folder;
  std::shared_ptr<const FileBuffer> owner;
  uint32_t first_line = 1;
  std::string format;  // empty: by the name or the contents
  StatedSizes sizes = {};  // for formats that are not texts
  const FormatOptions* output = nullptr;  // for writing it in the same format again; null: it is not
};

PyModule ReadText(const SourceText& text, bool verify) {
  Build build;
  Session& session = build.session();
  Log log(session.sources());
  std::optional<Module> read;
  uint64_t left_out = 0;
  {
    const py::gil_scoped_release unlocked;
    const auto parse = [&]() -> Result<Module> {
      const FormatRow* row = &DetectInputFormat(text.name, text.owner->text());
      if (!text.format.empty()) {
        IROPT_ASSIGN_OR_RETURN(row, FindInputFormat(text.format));
      }
      IROPT_ASSIGN_OR_RETURN(const Format* format, LoadFormat(*row));
      const auto open = [&](FileTensor tensor) {
        if (!text.folder.empty() && !tensor.path.starts_with('/')) tensor.path = text.folder + "/" + tensor.path;
        return session.tensor_files().Open(std::move(tensor));
      };
      ReadRequest request{.contents = text.owner->text(),
                          .owner = text.owner,
                          .name = text.name,
                          .folder = text.folder,
                          .sizes = text.sizes.empty() ? nullptr : &text.sizes,
                          .sources = &session.sources(),
                          .left_out = &left_out,
                          .is_written_back = text.output != nullptr,
                          .format_options = text.output,
                          .options = {.open_tensor = open, .unknown_version = UnknownVersion()}};
      if (row->is_text) {
        IROPT_RETURN_IF_ERROR(CheckIsText(request.contents));
        IROPT_ASSIGN_OR_RETURN(request.base,
                               session.sources().AddBuffer(text.name, request.contents, text.owner, text.first_line));
      }
      IROPT_ASSIGN_OR_RETURN(Module module, format->Read(request, log.engine()));
      if (verify && !VerifyModule(module, {}, log.engine())) return Failure{ErrorCode::IllFormed};
      return module;
    };
    Result<Module> result = parse();
    if (!result.ok()) {
      const py::gil_scoped_acquire lock;
      log.Throw(result.error());
    }
    read = *std::move(result);
  }
  PyModule module(*std::move(read), build.shared_session());
  module.set_left_out(left_out);
  return module;
}

PyModule FromSource(std::string text, std::string name, uint32_t first_line, std::string format, bool verify) {
  return ReadText({.name = std::move(name),
                   .folder = {},
                   .owner = std::make_shared<const FileBuffer>(std::move(text)),
                   .first_line = first_line,
                   .format = std::move(format)},
                  verify);
}

// Makes an error of the text that says what a function of Python has raised.
[[noreturn]] void ThrowScriptError(const Log& log, const iropt::Error& error, const PythonScriptHost& host) {
  try {
    log.Throw(error);
  } catch (py::error_already_set& thrown) {
    if (host.raised()) thrown.value().attr("__cause__") = host.raised()->value();
    throw;
  }
}

// Reads a script of a program. The function `call` answers its calls of __host_N(...); see PythonScriptHost.
PyModule FromScript(std::string text, const std::string& name, uint32_t first_line, bool verify, py::object call,
                    const std::vector<std::pair<std::string, NodeRef>>& captured) {
  Build build;
  Session& session = build.session();
  Log log(session.sources());
  const auto owner = std::make_shared<const FileBuffer>(std::move(text));
  PythonScriptHost host(build, std::move(call), captured);
  Result<Module> result = [&]() -> Result<Module> {
    const py::gil_scoped_release unlocked;
    IROPT_RETURN_IF_ERROR(CheckIsText(owner->text()));
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, session.sources().AddBuffer(name, owner->text(), owner, first_line));
    ParseOptions options;
    options.host = &host;
    options.unknown_version = UnknownVersion();
    std::optional<Module> module = ParseModule(owner->text(), base, options, log.engine());
    if (!module) return Failure{ErrorCode::Parse};
    if (verify && !VerifyModule(*module, {}, log.engine())) return Failure{ErrorCode::IllFormed};
    return *std::move(module);
  }();
  if (!result.ok()) ThrowScriptError(log, result.error(), host);
  return PyModule(*std::move(result), build.shared_session());
}

PyModule FromFile(const std::string& path, std::string format, bool verify) {
  const auto session = Session::Current();
  const Log log(session->sources());
  const size_t slash = path.rfind('/');
  return ReadText({.name = path,
                   .folder = slash == std::string::npos ? std::string() : path.substr(0, slash),
                   .owner = log.Check(ReadFile(path)),
                   .format = std::move(format)},
                  verify);
}

using Shapes = std::map<std::string, std::vector<std::optional<int64_t>>>;

// A model of ONNX: the bytes, or without any the file of that name.
// With options for writing it, the module is one that is written as a model again.
PyModule FromOnnx(const std::string& name, std::optional<std::string> bytes, const std::string& folder,
                  const Shapes& shapes, const std::map<std::string, int64_t>& symbols,
                  const std::optional<FormatOptions>& output) {
  const auto session = Session::Current();
  const Log log(session->sources());
  return ReadText({.name = name,
                   .folder = folder,
                   .owner = bytes ? std::make_shared<const FileBuffer>(*std::move(bytes)) : log.Check(ReadFile(name)),
                   .format = "onnx",
                   .sizes = {.shapes = {shapes.begin(), shapes.end()}, .symbols = {symbols.begin(), symbols.end()}},
                   .output = output ? &*output : nullptr},
                  /*verify=*/true);
}

// ---- Writing

// How many bytes of constants a module of this format should have after passes; -1: any number.
int64_t ConstantLimit(const PyModule& self, const std::string& format) {
  const auto session = Session::Current();
  const Log log(session->sources());
  const int64_t growth = log.Check(FindInputFormat(format))->max_constant_growth;
  return growth < 0 ? -1 : static_cast<int64_t>(MostFileBytes(self.module(), static_cast<size_t>(growth), self.left_out()));
}

PrintOptions PrintingOf(const py::dict& options) {
  PrintOptions printing;
  const auto get = [&](const char* name, auto otherwise) {
    return options.contains(name) ? options[name].cast<decltype(otherwise)>() : otherwise;
  };
  if (options.contains("version") && !options["version"].is_none())
    printing.version = ToVersion(options["version"].cast<std::string>());
  printing.show_meta = get("show_meta", true);
  printing.show_all_types = get("show_all_types", false);
  printing.inline_constants = get("inline_constants", int64_t{0});
  printing.hash_constants = get("hash_constants", false);
  printing.elide_larger_than = get("elide_larger_than", INT64_MAX);
  return printing;
}

std::string Print(const PyModule& self, const py::dict& options) {
  const PrintOptions printing = PrintingOf(options);
  IRContext::Scope scope(self.session()->context());
  // Others may change the module meanwhile.
  return [module = self.module(), &printing] {
    const py::gil_scoped_release unlocked;
    return ModuleToString(module, printing);
  }();
}

// `write` gets a function that appends the module to a stream.
template <class F>
void WriteAs(const PyModule& self, const FormatRow& row, const std::string& path, const FormatOptions& options, F write) {
  IRContext::Scope scope(self.session()->context());
  Log log(self.session()->sources());
  const Format* format = log.Check(LoadFormat(row));
  const Module& module = self.module();
  const WriteRequest request{
      .printing = {}, .path = path, .options = &options, .sources = &self.session()->sources()};
  log.Check(write([&](OutputStream& out) { return format->Write(module, request, out, log.engine()); }));
}

void Write(const PyModule& self, const std::string& path, const std::string& format, const FormatOptions& options) {
  const Log log(self.session()->sources());
  const FormatRow* row = format.empty() ? &DetectOutputFormat(path) : log.Check(FindOutputFormat(format));
  WriteAs(self, *row, path, options, [&](const auto& append) { return WriteFileAtomically(path, append); });
}

py::bytes ToBytes(const PyModule& self, const std::string& format, const FormatOptions& options) {
  const Log log(self.session()->sources());
  std::string bytes;
  WriteAs(self, *log.Check(FindOutputFormat(format)), "-", options, [&](const auto& append) -> Status {
    OutputStream out(&bytes);
    IROPT_RETURN_IF_ERROR(append(out));
    return out.Flush();
  });
  return bytes;
}

// ---- Functions

const GlobalVar* NameOf(const py::object& name) {
  if (!IsNode(name)) return GlobalVar::Get(name.cast<std::string>());
  if (const auto* var = As<GlobalVar>(GetNode(name).node)) return var;
  throw py::type_error("expected the name of a function");
}

py::list Entries(const PyModule& self) {
  const KeepRef keep = self.session()->keep();
  py::list entries;
  for (const ModuleEntry& entry : self.module().functions())
    entries.append(py::make_tuple(ToPython(entry.var, keep), ToPython(self.Get(entry))));
  return entries;
}

py::object FindFunction(const PyModule& self, const py::object& name) {
  IRContext::Scope scope(self.session()->context());
  const ModuleEntry* entry = self.module().Find(NameOf(name));
  return entry == nullptr ? py::none() : ToPython(self.Get(*entry));
}

void SetFunction(PyModule& self, const py::object& name, const NodeRef& func) {
  IRContext::Scope scope(self.session()->context());
  StoredFunction stored = StoreFunction(func);
  self.mutable_module().Set(NameOf(name), stored.func, std::move(stored.storage));
}

void RemoveFunction(PyModule& self, const py::object& name) {
  IRContext::Scope scope(self.session()->context());
  self.mutable_module().Remove(NameOf(name));
}

py::dict GlobalInfosOf(const PyModule& self) {
  const KeepRef keep = self.session()->keep();
  py::dict infos;
  for (const auto& [name, list] : self.module().global_infos()) {
    std::vector<py::object> items;
    for (const Attr* info : list) items.push_back(ToPython(info, keep));
    infos[py::str(name)] = MakeArray(std::move(items));
  }
  return infos;
}

void SetGlobalInfo(PyModule& self, const std::string& name, const py::list& infos) {
  Build build;
  std::vector<const Attr*> list;
  for (py::handle info : infos) list.push_back(ToAttr(info, build));
  self.mutable_module().mutable_global_infos()[name] = list;
}

PyModule NewModule() {
  const Build build;
  Module module;
  if (UnknownVersion()) module.set_text_version(*UnknownVersion());
  return PyModule(std::move(module), Session::Current());
}

// ---- Structure

bool ModulesEqual(const PyModule& a, const PyModule& b, bool map_free_vars) {
  IRContext::Scope scope(a.session()->context());
  return StructuralEqual(a.module(), b.module(), {.map_free_vars = map_free_vars});
}

std::optional<std::string> ModuleDifference(const PyModule& a, const PyModule& b, bool map_free_vars) {
  IRContext::Scope scope(a.session()->context());
  return FirstDifference(a.module(), b.module(), {.map_free_vars = map_free_vars});
}

bool NodesEqual(const NodeRef& a, const NodeRef& b, bool map_free_vars) {
  IRContext::Scope scope(a.keep->session->context());
  return StructuralEqual(a.node, b.node, {.map_free_vars = map_free_vars});
}

std::optional<std::string> NodeDifference(const NodeRef& a, const NodeRef& b, bool map_free_vars) {
  IRContext::Scope scope(a.keep->session->context());
  return FirstDifference(a.node, b.node, {.map_free_vars = map_free_vars});
}

std::string VerifyText(const PyModule& self) {
  IRContext::Scope scope(self.session()->context());
  Log log(self.session()->sources());
  static_cast<void>(VerifyModule(self.module(), {.allow_free_vars = false}, log.engine()));
  return log.engine().has_errors() ? log.Text() : std::string();
}

}  // namespace

namespace {

const BaseFunc* CopyBy(Cloner& cloner, const BaseFunc* func, Workspace& workspace) {
  const BaseFunc* cloned = cloner.Clone(func);
  const auto* prim = As<PrimFunc>(cloned);
  if (prim == nullptr) return cloned;
  PrimFunc copy = *prim;
  copy.type = PrimFuncType(&copy);
  return workspace.New<PrimFunc>(copy);
}

}  // namespace

const PrimFunc* CopyPrimFunc(const PrimFunc* func, Workspace& workspace) {
  Cloner cloner(workspace, {.own_sym_vars = true});
  return To<PrimFunc>(CopyBy(cloner, func, workspace));
}

StoredFunction StoreFunction(const NodeRef& ref) {
  const auto* func = As<BaseFunc>(ref.node);
  if (func == nullptr) throw py::type_error("expected a function");
  if (ref.keep->storage != nullptr) return {func, ref.keep->storage};
  Workspace workspace;
  Cloner cloner(workspace, {.own_sym_vars = Is<PrimFunc>(func)});
  const BaseFunc* copy = CopyBy(cloner, func, workspace);
  Session& session = *ref.keep->session;
  Session::Copies copies;
  LookupSet<const Node*> seen;
  const auto note = [&](const Node* node) {
    if (!Var::ClassOf(node->kind) && !Is<tir::Var>(node) && !Is<tir::Buffer>(node)) return;
    const Node* made = cloner.Clone(node);
    if (made != node) copies.emplace_back(made, session.Identity(node));
  };
  NameWalk<decltype(note)>(seen, note).Visit(func);
  FuncStorageRef storage = workspace.Finish();
  session.SetCopies(storage, ref.keep->store, copies);
  return {copy, std::move(storage)};
}

void AddModuleType(py::module_& m) {
  py::class_<PyModule>(m, "Module")
      .def(py::init(&NewModule))
      .def("entries", &Entries)
      .def("find", &FindFunction)
      .def("set", &SetFunction)
      .def("remove", &RemoveFunction)
      .def("__len__", [](const PyModule& self) { return self.module().size(); })
      .def("renamed",
           [](const PyModule& self, const std::map<std::string, std::string>& names) {
             const IRContext::Scope scope(self.session()->context());
             GlobalRenames renames;
             for (const auto& [from, to] : names) renames[GlobalVar::Get(from)] = GlobalVar::Get(to);
             return PyModule(RenameGlobals(self.module(), renames), self.session());
           })
      .def("copy", [](const PyModule& self) { return PyModule(self); })
      .def("text", &Print, py::arg("options") = py::dict())
      .def("write", &Write, py::arg("path"), py::arg("format") = "", py::arg("options") = FormatOptions())
      .def("to_bytes", &ToBytes, py::arg("format"), py::arg("options") = FormatOptions())
      .def("constant_limit", &ConstantLimit, py::arg("format"))
      .def("unique_name", [](const PyModule& self, const std::string& hint) { return self.module().UniqueName(hint); })
      .def("verify", &VerifyText)
      .def("global_infos", &GlobalInfosOf)
      .def("set_global_info", &SetGlobalInfo)
      .def("equal", &ModulesEqual)
      .def("difference", &ModuleDifference)
      .def("hash",
           [](const PyModule& self) {
             IRContext::Scope scope(self.session()->context());
             return StructuralHash(self.module());
           })
      .def_property(
          "name", [](const PyModule& self) { return self.module().name(); },
          [](PyModule& self, const std::string& name) { self.mutable_module().set_name(name); })
      .def_property(
          "attrs", [](const PyModule& self) { return ToPython(self.module().attrs(), self.session()->keep()); },
          [](PyModule& self, const py::object& attrs) {
            Build build;
            self.mutable_module().set_attrs(ToDictAttr(attrs, build));
          });
  m.def("from_source", &FromSource, py::arg("text"), py::arg("name") = "module", py::arg("first_line") = 1,
        py::arg("format") = "", py::arg("verify") = true);
  m.def("set_unknown_version", [](std::string_view version) { UnknownVersion() = ToVersion(version); });
  m.def("from_script", &FromScript, py::arg("text"), py::arg("name"), py::arg("first_line"), py::arg("verify"),
        py::arg("call"), py::arg("captured"));
  m.def("from_file", &FromFile, py::arg("path"), py::arg("format") = "", py::arg("verify") = true);
  m.def("from_onnx", &FromOnnx, py::arg("name"), py::arg("bytes"), py::arg("folder"), py::arg("input_shapes"),
        py::arg("symbols"), py::arg("output") = std::nullopt);
  m.def("structural_equal", &NodesEqual);
  m.def("difference", &NodeDifference);
  m.def("structural_hash", [](const NodeRef& ref, bool map_free_vars) {
    IRContext::Scope scope(ref.keep->session->context());
    return StructuralHash(ref.node, {.map_free_vars = map_free_vars});
  });
  m.def("scalar_text", [](const NodeRef& ref) {
    IRContext::Scope scope(ref.keep->session->context());
    return ScalarToString(To<PrimExpr>(ref.node));
  });
  m.def("expression_text", [](const NodeRef& ref) {
    IRContext::Scope scope(ref.keep->session->context());
    return ExpressionToString(To<Expr>(ref.node));
  });
}

}  // namespace iropt::python
