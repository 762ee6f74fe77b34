#include "hints.h"

#include <unordered_map>

#include "printer.h"

namespace iropt::text {
namespace {

// Prints a function to see which names are taken where a buffer gets its name. While it is printed, all buffers have
// the names of the text as their hints. A buffer that gets the hint of its data variable afterwards is printed under
// the same name, so the names that are taken are the same with all hints.
class HintFinder : public TirPrinter {
 public:
  HintFinder(const PrimFunc* func, PrintContext& context, std::span<const tir::Buffer* const> buffers)
      : TirPrinter(func, context) {
    for (const tir::Buffer* buffer : buffers) found_.emplace(buffer, Found::kNothing);
    for (const tir::Buffer* param : func->param_buffers) found_.erase(param);
  }

  void SetHints() const {
    for (const auto& [buffer, found] : found_) {
      // Made by the reader and not shared yet.
      if (found == Found::kHint) const_cast<tir::Buffer*>(buffer)->name = buffer->data->name;
    }
  }

 protected:
  std::string_view NameBuffer(const tir::Buffer* buffer) override {
    // A buffer may be declared several times.
    if (const auto it = found_.find(buffer); it != found_.end() && it->second != Found::kName) {
      // The pointer may have become one of its own, x_1_data, after the buffer was made.
      const uint32_t number = NumberAfterData(buffer);
      const bool gives = number > 0 && names_.Gives(buffer->data->name, number, buffer->name);
      it->second = gives ? Found::kHint : Found::kName;
    }
    return TirPrinter::NameBuffer(buffer);
  }

 private:
  enum class Found : uint8_t {
    kNothing,  // the buffer has not been printed yet
    kHint,     // so far the hint gives the name
    kName,     // only the name itself does
  };
  std::unordered_map<const tir::Buffer*, Found> found_;
};

}  // namespace

uint32_t NumberAfterData(const tir::Buffer* buffer) {
  constexpr size_t kMostDigits = 9;
  const std::string_view hint = buffer->data->name;
  if (!buffer->name.starts_with(hint)) return 0;
  const std::string_view rest = buffer->name.substr(hint.size());
  if (rest.size() < 2 || rest.size() > 1 + kMostDigits || rest[0] != '_' || rest[1] == '0') return 0;
  uint32_t number = 0;
  for (const char c : rest.substr(1)) {
    if (c < '0' || c > '9') return 0;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return number;
}

void RecoverHints(const PrimFunc* func, std::span<const tir::Buffer* const> buffers, std::string_view module_name) {
  const Module module;
  const PrintOptions options;
  const MetadataTable metadata;
  std::string text;
  OutputStream out(&text);
  PrintNames names(ReservedNames(module_name, metadata));
  PrintContext context{&module, options, out, names, metadata};
  HintFinder finder(func, context, buffers);
  finder.Print("f", {});
  finder.SetHints();
}

}  // namespace iropt::text
