#include "iropt/driver/foreign_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace iropt {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kZip = "PK\x03\x04"sv;

// The name of the first file in an archive.
std::string_view FirstNameInZip(std::string_view contents) {
  constexpr size_t kLengthAt = 26;
  constexpr size_t kNameAt = 30;
  if (!contents.starts_with(kZip) || contents.size() < kNameAt) return {};
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(contents[at])); };
  return contents.substr(kNameAt, byte(kLengthAt) | byte(kLengthAt + 1) << 8);
}

bool IsNpz(std::string_view contents) { return FirstNameInZip(contents).ends_with(".npy"); }

// Its first file is named "archive/data.pkl", with the name of the model before it.
bool IsTorch(std::string_view contents) {
  const std::string_view name = FirstNameInZip(contents);
  return name.ends_with("/data.pkl") || name.ends_with("/version") || name.ends_with("/byteorder");
}

// The length of a JSON object, then the object.
bool IsSafetensors(std::string_view contents) {
  uint64_t length = 0;
  if (contents.size() < sizeof(length) + 2) return false;
  std::memcpy(&length, contents.data(), sizeof(length));
  return contents.substr(sizeof(length)).starts_with("{\"") && length <= contents.size() - sizeof(length);
}

bool IsJson(std::string_view contents) {
  contents.remove_prefix(std::min(contents.find_first_not_of(" \t\r\n"), contents.size()));
  if (!contents.starts_with('{')) return false;
  contents.remove_prefix(1);
  contents.remove_prefix(std::min(contents.find_first_not_of(" \t\r\n"), contents.size()));
  return contents.starts_with('"') || contents.starts_with('}');
}

bool IsTflite(std::string_view contents) { return contents.size() >= 8 && contents.substr(4, 4) == "TFL3"; }

// A line of MLIR's text behind comments and aliases, which TVMScript takes for comments.
bool IsMlirText(std::string_view contents) {
  constexpr size_t kLookedAt = 4096;
  contents = contents.substr(0, kLookedAt);
  while (!contents.empty()) {
    std::string_view line = contents.substr(0, contents.find('\n'));
    contents.remove_prefix(std::min(contents.size(), line.size() + 1));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line.starts_with("//") || line.starts_with('#')) continue;
    constexpr std::string_view kBegins[] = {"module {",           "module @",   "module attributes", "builtin.module",
                                            "\"builtin.module\"", "func.func ", "hlo.module",        "HloModule "};
    return std::ranges::any_of(kBegins, [&](std::string_view begin) { return line.starts_with(begin); });
  }
  return false;
}

bool IsLlvmText(std::string_view contents) {
  return contents.starts_with("; ModuleID") || contents.starts_with("source_filename = ");
}

// The version of a SavedModel, 1, then its first graph.
bool IsSavedModel(std::string_view contents) { return contents.starts_with("\x08\x01\x12"); }

template <const std::string_view& kMagic>
bool StartsWith(std::string_view contents) {
  return contents.starts_with(kMagic);
}

constexpr std::string_view kElf =
    "\x7f"
    "ELF"sv;
constexpr std::string_view kGguf = "GGUF"sv;
constexpr std::string_view kGzip = "\x1f\x8b"sv;
constexpr std::string_view kHdf = "\x89HDF"sv;
constexpr std::string_view kMlir = "ML\xefR"sv;
constexpr std::string_view kNumpy = "\x93NUMPY"sv;
constexpr std::string_view kLlvm = "BC\xc0\xde"sv;
constexpr std::string_view kTvmParams = "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7"sv;

// Protocol 2 and later ones.
bool IsPickle(std::string_view contents) {
  return contents.size() > 2 && contents[0] == '\x80' && contents[1] >= 2 && contents[1] <= 5;
}

struct ForeignRow {
  bool (*matches)(std::string_view contents);
  std::string_view kind;
  std::string_view advice;
};

constexpr ForeignRow kForeignFiles[] = {
    {IsNpz, "an archive of NumPy arrays", "-inputs and -weights take it"},
    {IsTorch, "a file of PyTorch", "export the model to ONNX, as torch.onnx.export does"},
    {StartsWith<kZip>, "a zip archive", "unpack it first"},
    {IsPickle, "a Python pickle, as PyTorch's older files are", "export the model to ONNX"},
    {IsTflite, "a model of TensorFlow Lite", "convert it to ONNX, as tf2onnx does"},
    {IsSafetensors, "weights in safetensors", "-weights takes them"},
    {StartsWith<kNumpy>, "a NumPy array", "-inputs takes it"},
    {StartsWith<kHdf>, "a file of HDF5, as Keras writes", "convert the model to ONNX, as tf2onnx does"},
    {StartsWith<kGguf>, "weights in GGUF", "export the model to ONNX; weights are taken from safetensors"},
    {StartsWith<kGzip>, "a file that gzip packed", "unpack it first"},
    {StartsWith<kMlir>, "bytecode of MLIR", "export the model to ONNX"},
    {IsMlirText, "MLIR", "mlir-opt reads it; export the model to ONNX"},
    {StartsWith<kLlvm>, "bitcode of LLVM", "opt reads it"},
    {IsLlvmText, "LLVM IR", "opt reads it"},
    {IsSavedModel, "a SavedModel of TensorFlow", "convert it to ONNX, as tf2onnx does"},
    {StartsWith<kTvmParams>, "weights of TVM", "-weights takes them"},
    {StartsWith<kElf>, "a program or a shared object", "-load-pass-plugin takes plugins"},
    {IsJson, "JSON", "-pipeline takes pipelines"},
};

}  // namespace

Status CheckIsText(std::string_view contents) {
  const auto* row = std::ranges::find_if(kForeignFiles, [&](const ForeignRow& r) { return r.matches(contents); });
  if (row == std::end(kForeignFiles)) return {};
  return Error{ErrorCode::Parse, fmt::format("the input looks like {}, not like a module: {}", row->kind, row->advice)};
}

}  // namespace iropt
