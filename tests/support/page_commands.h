// The commands in the code blocks of Markdown pages: blocks of the languages sh, bash and console.
//
//   for (const PageCommand& command : commands_of_page("docs/install.md")) run(command.text);
//   commands_of_section("docs/install.md", "## Remove");   // of the first block below that heading
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/result.h"

namespace tpuslice {

struct PageCommand {
  std::string page;     ///< "docs/install.md"
  int line = 0;         ///< Its first line, from 1.
  std::string heading;  ///< "## Remove", the nearest above it.
  int block = 0;        ///< Number of the block below that heading, from 0.
  std::string text;     ///< Without comments; lines that continue it are joined by '\n'.
  std::string comment;  ///< Behind it, without '#'.
  std::string output;   ///< In a block of the language console: the lines below the command.

  [[nodiscard]] std::string where() const;  ///< "docs/install.md:12"
};

/// A command ends with its line, unless the line ends in a backslash or within quotes. In blocks of the language
/// console, and in those without a language that begin with "$ ", commands begin with "$ ".
[[nodiscard]] std::vector<PageCommand> commands_of_text(const std::string& page, std::string_view text);

/// Relative to the source root, where tests run. Empty if there is no such page.
[[nodiscard]] std::vector<PageCommand> commands_of_page(const std::string& page);

/// The commands of the nth block, from 0, below a heading.
[[nodiscard]] std::vector<std::string> commands_of_section(const std::string& page, const std::string& heading,
                                                           int block = 0);

/// The text of the nth block, from 0, of a language below a heading. Errors: NotFound.
[[nodiscard]] Result<std::string> block_of_section(const std::string& page, const std::string& heading,
                                                   const std::string& language, int block = 0);

/// Commands that no test runs, each with the reason.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& commands_without_test();
/// Empty if a test must run it.
[[nodiscard]] std::string reason_without_test(const PageCommand& command);

}  // namespace tpuslice
