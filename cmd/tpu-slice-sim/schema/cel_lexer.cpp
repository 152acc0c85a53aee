#include "cmd/tpu-slice-sim/schema/cel_lexer.h"

#include <array>
#include <cctype>
#include <charconv>

namespace tpuslice::sim::cel {
namespace {

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    while (true) {
      while (std::isspace(static_cast<unsigned char>(peek())) != 0) ++at_;
      ASSIGN_OR_RETURN(Token token, next());
      const bool end = token.type == TokenType::kEnd;
      tokens.push_back(std::move(token));
      if (end) return tokens;
    }
  }

 private:
  [[nodiscard]] Error error(std::string_view what) const {
    return Error::invalid_argument("syntax error at position {}: {}", at_, what);
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Result<Token> next() {
    Token token;
    token.position = at_;
    if (at_ >= text_.size()) return token;
    if (peek() == '"' || peek() == '\'') return string(std::move(token));
    if (is_digit(peek())) return number(std::move(token));
    if (!is_name_start(peek())) return symbol(std::move(token));
    while (is_name_part(peek())) token.text += text_[at_++];
    token.type = TokenType::kName;
    return token;
  }

  Result<Token> symbol(Token token) {
    static constexpr std::array<std::string_view, 6> kPairs = {"==", "!=", "<=", ">=", "&&", "||"};
    token.type = TokenType::kSymbol;
    for (const std::string_view pair : kPairs) {
      if (text_.substr(at_, 2) == pair) {
        token.text = pair;
        at_ += 2;
        return token;
      }
    }
    if (std::string_view("()[].,?:!<>+-*%").find(peek()) == std::string_view::npos) {
      return error(std::string("unexpected character '") + peek() + "'");
    }
    token.text = text_[at_++];
    return token;
  }

  Result<Token> number(Token token) {
    token.type = TokenType::kLiteral;
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc()) return error("number is out of range");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (is_name_part(peek())) return error("malformed number");
    token.literal = value;
    return token;
  }

  Result<Token> string(Token token) {
    token.type = TokenType::kLiteral;
    const std::size_t end = text_.find(peek(), at_ + 1);
    if (end == std::string_view::npos) return error("string is not closed");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    if (value.find('\\') != std::string_view::npos) return error("escapes in strings are not supported");
    at_ = end + 1;
    token.literal = std::string(value);
    return token;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace tpuslice::sim::cel
