// The tokens of a CEL expression.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::sim::cel {

enum class TokenType : std::uint8_t { kName, kLiteral, kSymbol, kEnd };

struct Token {
  TokenType type = TokenType::kEnd;
  std::string text;  ///< Text of names and symbols.
  Json literal;
  std::size_t position = 0;
};

/// Ends with a kEnd token. Errors: InvalidArgument with the position.
[[nodiscard]] Result<std::vector<Token>> tokenize(std::string_view text);

}  // namespace tpuslice::sim::cel
