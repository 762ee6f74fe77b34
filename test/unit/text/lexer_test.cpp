#include "iropt/text/script/lexer.h"

#include <string>
#include <vector>

#include "catch.h"

using namespace iropt;

namespace {

struct Lexed {
  std::vector<TokenKind> kinds;
  std::vector<std::string> texts;
  std::vector<std::string> errors;
};

Lexed LexAll(std::string_view text) {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  Lexer lexer(text, 1, 0, static_cast<uint32_t>(text.size()), diagnostics);
  Lexed result;
  for (int i = 0; i < 1000 && lexer.kind() != TokenKind::kEnd; ++i) {
    result.kinds.push_back(lexer.kind());
    result.texts.emplace_back(lexer.text());
    lexer.Next();
  }
  for (const Diagnostic& d : buffer.diagnostics()) result.errors.emplace_back(d.kind);
  return result;
}

using K = TokenKind;

}  // namespace

TEST_CASE("names, numbers and operators are tokens of their own") {
  const Lexed lexed = LexAll("a.b_1 = 0x1F + 1e-3 // 2 ** .5 >= x -> y\n");
  CHECK(lexed.kinds == std::vector<K>{K::kName, K::kDot, K::kName, K::kAssign, K::kInt, K::kPlus, K::kFloat,
                                      K::kDoubleSlash, K::kInt, K::kDoubleStar, K::kFloat, K::kGreaterEqual, K::kName,
                                      K::kArrow, K::kName, K::kNewline});
  CHECK(lexed.errors.empty());
}

TEST_CASE("indentation opens and closes blocks") {
  const Lexed lexed = LexAll("a:\n    b:\n        c\n\n# comment\n    d\ne\n");
  CHECK(lexed.kinds == std::vector<K>{K::kName, K::kColon, K::kNewline, K::kIndent, K::kName, K::kColon, K::kNewline,
                                      K::kIndent, K::kName, K::kNewline, K::kDedent, K::kName, K::kNewline, K::kDedent,
                                      K::kName, K::kNewline});
}

TEST_CASE("open blocks are closed at the end of the text, with or without a final line break") {
  for (const char* text : {"a:\n    b", "a:\n    b\n", "a:\n    b\n    # comment"}) {
    CAPTURE(text);
    const Lexed lexed = LexAll(text);
    CHECK(lexed.kinds ==
          std::vector<K>{K::kName, K::kColon, K::kNewline, K::kIndent, K::kName, K::kNewline, K::kDedent});
  }
}

TEST_CASE("brackets suspend line structure") {
  const Lexed lexed = LexAll("f(a,\n  b)\nc\n");
  CHECK(lexed.kinds == std::vector<K>{K::kName, K::kLParen, K::kName, K::kComma, K::kName, K::kRParen, K::kNewline,
                                      K::kName, K::kNewline});
}

TEST_CASE("comments, line breaks and backslashes lie between the tokens of a line") {
  for (const char* text : {"f(a, # one\n  # two\n\n  b)", "f(a, \\\n  b)", "f(a, \\\r\n\\\n# one\r\n b)"}) {
    CAPTURE(text);
    const Lexed lexed = LexAll(text);
    CHECK(lexed.kinds == std::vector<K>{K::kName, K::kLParen, K::kName, K::kComma, K::kName, K::kRParen, K::kNewline});
    CHECK(lexed.errors.empty());
  }
  CHECK(LexAll("a \\\nb # c\nd").kinds == std::vector<K>{K::kName, K::kName, K::kNewline, K::kName, K::kNewline});
  CHECK(LexAll("a \\ b\n").errors == std::vector<std::string>{"unexpected-character"});
  CHECK(LexAll("a \\").errors == std::vector<std::string>{"unexpected-character"});
  CHECK(LexAll("a \\\r").errors == std::vector<std::string>{"unexpected-character"});
}

TEST_CASE("a line that returns to no enclosing indentation is an error") {
  CHECK(LexAll("a:\n        b\n    c\n").errors == std::vector<std::string>{"bad-indentation"});
}

TEST_CASE("strings: quotes, prefixes, escapes") {
  std::string storage;
  CHECK(UnescapeString(R"("plain")", storage) == "plain");
  CHECK(UnescapeString(R"('a\tb\x41\n\"')", storage) == "a\tbA\n\"");
  CHECK(UnescapeString(R"(r"a\tb")", storage) == R"(a\tb)");
  CHECK(UnescapeString("\"\"\"a\"b\nc\"\"\"", storage) == "a\"b\nc");
  CHECK(UnescapeString(R"("\u00e9\101")", storage) ==
        "\xc3\xa9"
        "A");
  CHECK(LexAll("x = \"abc\n").errors == std::vector<std::string>{"unterminated-string"});
  CHECK(LexAll("x = '''abc\n").errors == std::vector<std::string>{"unterminated-string"});
}

TEST_CASE("bytes that do not begin a token are errors, and lexing continues") {
  const Lexed lexed = LexAll(std::string_view("a \x01 ? b\n"));
  CHECK(lexed.errors == std::vector<std::string>{"unexpected-character", "unexpected-character"});
  CHECK(lexed.kinds.back() == K::kNewline);
  CHECK(LexAll("12abc\n").errors == std::vector<std::string>{"bad-number"});
}

TEST_CASE("skipping a line passes open brackets and the block below") {
  DiagnosticBuffer buffer;
  DiagnosticEngine diagnostics(&buffer);
  const std::string_view text = "a = (b, [c\n    d\n    e\nf\n";
  Lexer lexer(text, 1, 0, static_cast<uint32_t>(text.size()), diagnostics);
  for (int i = 0; i < 6; ++i) lexer.Next();
  lexer.SkipLine();
  CHECK(lexer.text() == "f");
}
