#include "body_pieces.h"

#include <algorithm>

#include "iropt/support/hash.h"

namespace iropt::text {

PieceReader::PieceReader(ParserCore::Shared shared, AnfBuilder& anf, const DictAttr*& attrs, uint32_t function,
                         std::shared_ptr<const BodyReading> before)
    : lex_(shared.lexer),
      state_(shared.state),
      symbols_(shared.symbols),
      recorder_(*shared.symbols.recorder()),
      diag_(shared.diagnostics),
      anf_(anf),
      attrs_(attrs),
      function_(function),
      text_(shared.lexer.buffer().substr(0, shared.lexer.end_offset())),
      size_(shared.lexer.end_offset() - function),
      before_(std::move(before)) {
  recorder_.NoteMisses();
  if (before_) {
    TakeHeader();
  } else {
    symbols_.ForEach(
        [&](std::string_view name, const Node* node) { header_names_.emplace_back(KeptName(name, node), node); });
  }
}

bool PieceReader::CanContinue(const BodyReading& before) {
  return before.next_place - kFirstPlace < before.size / 2 && before.size < kFirstPlace / 2;
}

// The header has the same text, so its names stand for the nodes that they stood for.
void PieceReader::TakeHeader() {
  constexpr size_t kMore = size_t{1} << 12;  // than last time
  recorder_.Reserve(before_->num_occurrences + kMore, before_->num_symbols + kMore);
  header_names_ = before_->header_names;
  for (const auto& [name, node] : header_names_) {
    const uint32_t definition = symbols_.Peek(name).definition;
    recorder_.SetNode(definition, node);
    symbols_.DefineAs(name, node, definition);
  }
  next_place_ = before_->next_place;
  places_.push_back(before_->header);
  anf_.set_known_vars(&dropped_);
  BeginRegion(lex_.peek().begin);
}

// The beginning of the line whose first token is the current one.
uint32_t PieceReader::LineStart() const {
  if (lex_.bracket_depth() > 0) return kNowhere;
  uint32_t p = lex_.peek().begin;
  while (p > 0 && (text_[p - 1] == ' ' || text_[p - 1] == '\t')) --p;
  return p > 0 && text_[p - 1] == '\n' ? p : kNowhere;
}

bool PieceReader::AtStatement() {
  if (anf_.sequence() != body_ || lex_.kind() == TokenKind::kIndent) return false;
  const uint32_t at = LineStart();
  if (at == kNowhere) return false;
  if (const PlacedPiece* known = Candidate(at)) {
    EndPiece(at);
    Keep(*known, at);
    return true;
  }
  const bool is_block = lex_.kind() == TokenKind::kName && lex_.text() == "with";
  if (open_ && (is_block || at - open_->begin >= kPieceBytes)) EndPiece(at);
  if (!open_ && !is_block) BeginPiece(at);
  return false;
}

void PieceReader::AtEnd() {
  if (anf_.sequence() == body_) EndPiece(LineStart());
}

uint64_t PieceReader::FirstKey(uint32_t at) const { return HashString(text_.substr(at, kFirstBytes)); }

// The next piece, or the one that is as far from the end of the text as it was: there is mostly one edit.
const PlacedPiece* PieceReader::Candidate(uint32_t at) {
  if (!before_ || body_->output_seen || body_->result) return nullptr;
  const std::vector<PlacedPiece>& known = before_->pieces;
  const uint32_t from_end = before_->size - std::min(before_->size, size_ - (at - function_));
  const auto aligned = std::ranges::lower_bound(known.begin() + static_cast<ptrdiff_t>(next_), known.end(), from_end,
                                                {}, &PlacedPiece::begin);
  const bool is_aligned = aligned != known.end() && aligned->begin == from_end;
  if (next_ == known.size()) return nullptr;
  const uint64_t first_key = FirstKey(at);
  for (const PlacedPiece* candidate : {&known[next_], is_aligned ? &*aligned : nullptr}) {
    if (candidate && candidate->piece->first_key == first_key && Fits(*candidate->piece, at)) return candidate;
  }
  return nullptr;
}

bool PieceReader::Fits(const BodyPiece& piece, uint32_t at) const {
  const std::string_view text = text_.substr(at);
  if (!piece.is_sound || piece.size > text.size() || piece.in_dataflow != body_->in_dataflow ||
      piece.attrs_before != attrs_ || piece.key != HashString(text.substr(0, piece.size)))
    return false;
  // Another branch of a conditional at its end.
  const size_t behind = text.find_first_not_of(" \t\r\n", piece.size);
  if (behind != std::string_view::npos &&
      (text.substr(behind).starts_with("else") || text.substr(behind).starts_with("elif")))
    return false;
  // Looking for a prefix is not noted.
  if (std::ranges::any_of(state_.prefixes.entries(),
                          [&](const auto& prefix) { return symbols_.Peek(prefix.first).node; }))
    return false;
  return std::ranges::all_of(piece.uses, [&](const BodyPiece::Name& use) {
    const Node* node = symbols_.Peek(use.name).node;
    return (node ? Kept(node) : nullptr) == use.node;
  });
}

void PieceReader::Keep(const PlacedPiece& placed, uint32_t at) {
  const BodyPiece& piece = *placed.piece;
  EndRegion(at);
  next_ = static_cast<size_t>(&placed - before_->pieces.data()) + 1;
  const uint32_t begin = at - function_;
  places_.push_back({piece.read_begin, piece.size, begin});
  pieces_.push_back({begin, placed.piece});
  AddBindings(piece);
  AddOccurrences(piece, begin);
  attrs_ = piece.attrs_after;
  BeginRegion(at + piece.size);
  lex_.SkipToLine(at + piece.size);
}

// The outputs of a dataflow block are made known at its end, which is always read again.
void PieceReader::AddBindings(const BodyPiece& piece) {
  AnfBuilder::Sequence& sequence = *anf_.sequence();
  sequence.bindings.insert(sequence.bindings.end(), piece.bindings.begin(), piece.bindings.end());
  if (!sequence.in_dataflow) return;
  for (const Binding* binding : piece.bindings) {
    auto* var = const_cast<Var*>(binding->var);
    if (!var->is_dataflow()) var->kind = NodeKind::kDataflowVar;
    sequence.dataflow_vars.push_back(var);
  }
}

void PieceReader::AddOccurrences(const BodyPiece& piece, uint32_t begin) {
  std::vector<uint32_t> outside;
  outside.reserve(piece.uses.size());
  for (const BodyPiece::Name& use : piece.uses) outside.push_back(symbols_.Peek(use.name).definition);
  const uint32_t first = recorder_.AddSymbols(piece.symbols, piece.symbol_begins, begin);
  const auto own = static_cast<uint32_t>(piece.symbols.size());
  for (Occurrence occurrence : piece.occurrences) {
    occurrence.begin += begin;
    occurrence.end += begin;
    if (occurrence.kind <= OccurrenceKind::kUse)
      occurrence.symbol = occurrence.symbol < own ? first + occurrence.symbol : outside[occurrence.symbol - own];
    recorder_.Add(occurrence);
  }
  for (const BodyPiece::Name& name : piece.defines) {
    const Node* node = name.node->kind == NodeKind::kNoneAttr ? state_.module_alias() : name.node;
    symbols_.DefineAs(name.name, node, first + name.symbol);
  }
}

// The piece that began here, and those that were passed, are read again.
void PieceReader::BeginPiece(uint32_t at) {
  if (before_) {
    const uint32_t begin = at - function_;
    const auto is_passed = [&](const PlacedPiece& known) {
      return known.begin == begin || known.begin + size_ <= begin + before_->size;
    };
    while (next_ < before_->pieces.size() && is_passed(before_->pieces[next_])) Drop(*before_->pieces[next_++].piece);
  }
  open_ = {at,    NumDiagnostics(), body_->bindings.size(), recorder_.occurrences().size(), recorder_.num_symbols(),
           attrs_};
  recorder_.TakeMisses();
}

void PieceReader::Drop(const BodyPiece& piece) {
  for (Var* var : piece.vars) dropped_[var->name()].push_back(var);
}

// Ends the current piece. One with errors is always read again, and so are the outputs of a block and the result. But
// their variables stay.
void PieceReader::EndPiece(uint32_t at) {
  if (!open_) return;
  const Open open = *std::exchange(open_, std::nullopt);
  if (at == kNowhere || at <= open.begin) return;
  auto piece = std::make_shared<BodyPiece>();
  piece->is_sound = NumDiagnostics() == open.diagnostics && !body_->output_seen && !body_->result &&
                    body_->bindings.size() >= open.first_binding;
  AddDefines(open, *piece);
  pieces_.push_back({open.begin - function_, piece});
  if (!piece->is_sound) return;
  piece->size = at - open.begin;
  piece->key = HashString(text_.substr(open.begin, piece->size));
  piece->first_key = FirstKey(open.begin);
  piece->read_begin = lex_.base() + open.begin;
  piece->in_dataflow = body_->in_dataflow;
  piece->attrs_before = open.attrs;
  piece->attrs_after = attrs_;
  piece->bindings.assign(body_->bindings.begin() + static_cast<ptrdiff_t>(open.first_binding), body_->bindings.end());
  drafts_.push_back({open.begin - function_, std::move(piece), open.first_symbol,
                     recorder_.num_symbols() - open.first_symbol, recorder_.TakeMisses()});
}

void PieceReader::AddDefines(const Open& open, BodyPiece& piece) const {
  for (const Occurrence& record : recorder_.occurrences().subspan(open.first_record)) {
    if (record.kind != OccurrenceKind::kDefinition) continue;
    const std::string_view name = text_.substr(function_ + record.begin, record.end - record.begin);
    const auto [node, definition] = symbols_.Peek(name);
    const Node* defined = recorder_.NodeOf(record.symbol);
    if (Var::ClassOf(defined->kind)) piece.vars.push_back(static_cast<Var*>(const_cast<Node*>(defined)));
    if (!node || definition < open.first_symbol) continue;
    piece.defines.push_back({KeptName(name, node), Kept(node), definition - open.first_symbol});
  }
}

// Views of the text do not last.
std::string_view PieceReader::KeptName(std::string_view name, const Node* node) const {
  if (node && Var::ClassOf(node->kind) && static_cast<const Var*>(node)->name() == name)
    return static_cast<const Var*>(node)->name();
  return IRContext::Current().InternString(name);
}

const Node* PieceReader::Kept(const Node* node) const { return node == state_.module_alias() ? NoneAttr::Get() : node; }

// Gives new places to the text that is read until the next piece that is kept.
void PieceReader::BeginRegion(uint32_t at) {
  region_ = at;
  lex_.set_base(next_place_ - at);
}

void PieceReader::EndRegion(uint32_t at) {
  if (!before_ || at == region_) return;
  places_.push_back({next_place_, at - region_, region_ - function_});
  next_place_ += at - region_;
}

std::shared_ptr<BodyReading> PieceReader::Finish(FunctionReading& reading) {
  auto kept = std::make_shared<BodyReading>();
  EndRegion(function_ + size_);
  size_t next_occurrence = 0;
  for (Draft& draft : drafts_) Complete(draft, reading, next_occurrence);
  kept->size = size_;
  kept->num_occurrences = reading.occurrences.size();
  kept->num_symbols = reading.symbols.size();
  kept->header = before_ ? before_->header : ReadPlace{reading.span.begin, reading.body_begin, 0};
  kept->header_names = std::move(header_names_);
  kept->pieces = std::move(pieces_);
  kept->next_place = next_place_;
  if (before_) reading.bytes_read = next_place_ - before_->next_place;
  std::ranges::sort(places_, {}, &ReadPlace::read_begin);
  reading.places = std::move(places_);
  return kept;
}

void PieceReader::Complete(Draft& draft, const FunctionReading& reading, size_t& next_occurrence) const {
  BodyPiece& piece = *draft.piece;
  const uint32_t end_symbol = draft.first_symbol + draft.num_symbols;
  const auto symbols = std::span(reading.symbols).subspan(draft.first_symbol, draft.num_symbols);
  piece.symbols.assign(symbols.begin(), symbols.end());
  for (uint32_t symbol = draft.first_symbol; symbol < end_symbol; ++symbol) {
    const uint32_t begin = recorder_.BeginOf(symbol);
    piece.symbol_begins.push_back(begin == kNowhere ? kNowhere : begin - draft.begin);
  }
  std::unordered_map<uint32_t, uint32_t> outside;  // by symbol of the reading
  const std::vector<Occurrence>& all = reading.occurrences;
  while (next_occurrence < all.size() && all[next_occurrence].begin < draft.begin) ++next_occurrence;
  const size_t first = next_occurrence;
  while (next_occurrence < all.size() && all[next_occurrence].begin < draft.begin + piece.size) ++next_occurrence;
  piece.occurrences.reserve(next_occurrence - first);
  for (size_t i = first; i < next_occurrence; ++i) {
    Occurrence occurrence = all[i];
    const bool is_symbol = occurrence.kind <= OccurrenceKind::kUse;
    if (is_symbol && occurrence.symbol >= draft.first_symbol && occurrence.symbol < end_symbol) {
      occurrence.symbol -= draft.first_symbol;
    } else if (is_symbol) {
      const auto [known, added] =
          outside.try_emplace(occurrence.symbol, draft.num_symbols + static_cast<uint32_t>(piece.uses.size()));
      if (added) {
        const Node* node = reading.symbols[occurrence.symbol];
        const std::string_view name = text_.substr(function_ + occurrence.begin, occurrence.end - occurrence.begin);
        piece.uses.push_back({KeptName(name, node), Kept(node)});
      }
      occurrence.symbol = known->second;
    }
    occurrence.begin -= draft.begin;
    occurrence.end -= draft.begin;
    piece.occurrences.push_back(occurrence);
  }
  for (const std::string_view miss : draft.misses) piece.uses.push_back({KeptName(miss, nullptr)});
}

}  // namespace iropt::text
