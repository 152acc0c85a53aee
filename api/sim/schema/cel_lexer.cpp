#include "api/sim/schema/cel_lexer.h"

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
      skip_blanks();
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
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  Result<Token> next() {
    Token token;
    token.position = at_;
    if (at_ >= text_.size()) return token;
    const char c = peek();
    if (c == '"' || c == '\'') return string(std::move(token), false);
    if ((c == 'r' || c == 'R') && (peek(1) == '"' || peek(1) == '\'')) {
      ++at_;
      return string(std::move(token), true);
    }
    if ((c == 'b' || c == 'B') && (peek(1) == '"' || peek(1) == '\'')) return error("bytes are not supported");
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(std::move(token));
    if (is_name_start(c)) {
      while (is_name_part(peek())) token.text += text_[at_++];
      token.type = TokenType::kName;
      return token;
    }
    return symbol(std::move(token));
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
    if (std::string_view("()[]{}.,?:!<>+-*/%").find(peek()) == std::string_view::npos) {
      return error(std::string("unexpected character '") + peek() + "'");
    }
    token.text = text_[at_++];
    return token;
  }

  Result<Token> number(Token token) {
    token.type = TokenType::kLiteral;
    const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hex) at_ += 2;
    const std::size_t start = at_;
    bool fraction = false;
    while (hex ? std::isxdigit(static_cast<unsigned char>(peek())) != 0 : is_number_part(start)) {
      fraction = fraction || (!hex && (peek() == '.' || peek() == 'e' || peek() == 'E'));
      ++at_;
    }
    const char* first = text_.data() + start;
    const char* last = text_.data() + at_;
    if (fraction) {
      double value = 0;
      if (const auto [end, code] = std::from_chars(first, last, value); code != std::errc() || end != last) {
        return error("malformed number");
      }
      token.literal = value;
      return token;
    }
    std::int64_t value = 0;
    if (const auto [end, code] = std::from_chars(first, last, value, hex ? 16 : 10);
        code != std::errc() || end != last) {
      return error("number is out of range");
    }
    if (peek() == 'u' || peek() == 'U') ++at_;
    if (is_name_part(peek())) return error("malformed number");
    token.literal = value;
    return token;
  }

  [[nodiscard]] bool is_number_part(std::size_t start) const {
    const char c = peek();
    if (is_digit(c) || c == 'e' || c == 'E') return true;
    if (c == '.') return is_digit(peek(1));
    return (c == '+' || c == '-') && at_ > start && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
  }

  Result<Token> string(Token token, bool raw) {
    token.type = TokenType::kLiteral;
    const char quote = text_[at_++];
    if (peek() == quote && peek(1) == quote) return error("triple-quoted strings are not supported");
    std::string value;
    while (peek() != quote) {
      if (at_ >= text_.size() || peek() == '\n') return error("string is not closed");
      if (peek() == '\\' && !raw) {
        RETURN_IF_ERROR(escape(value));
      } else {
        value += text_[at_++];
      }
    }
    ++at_;
    token.literal = std::move(value);
    return token;
  }

  Status escape(std::string& value) {
    static constexpr std::string_view kCodes = "abfnrtv\\'\"`?";
    static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\'\"`?";
    const char code = peek(1);
    if (const std::size_t index = kCodes.find(code); code != '\0' && index != std::string_view::npos) {
      value += kValues[index];
      at_ += 2;
      return {};
    }
    return error(std::string("unsupported escape '\\") + code + "'");
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace tpuslice::sim::cel
