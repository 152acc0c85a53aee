#include "tests/support/page_commands.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/file.h"
#include "api/base/strings.h"

namespace tpuslice {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kPrompt = "$ ";

/// A code block, with the number of its first line of text.
struct CodeBlock {
  std::string heading;
  std::string language;
  int number = 0;  ///< Below its heading, among those of its language.
  int line = 0;
  std::vector<std::string> lines;
};

/// Removes up to `indent` spaces, those of a block in a list.
std::string unindented(const std::string& line, std::size_t indent) {
  const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
  return line.substr(std::min(spaces, indent));
}

std::vector<CodeBlock> blocks_of(std::string_view text) {
  std::vector<CodeBlock> blocks;
  std::map<std::string, int> numbers;  // Of the next block of a language below the heading.
  std::string heading;
  bool inside = false;
  std::size_t indent = 0;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const std::string content = trimmed(line);
    if (content.starts_with(kFence)) {
      inside = !inside;
      if (!inside) continue;
      indent = line.find('`');
      const std::string language = content.substr(kFence.size());
      blocks.push_back({heading, language, numbers[language]++, number + 1, {}});
    } else if (inside) {
      blocks.back().lines.push_back(unindented(line, indent));
    } else if (line.starts_with("#")) {
      heading = line;
      numbers.clear();
    }
  }
  return blocks;
}

/// Reads a command line by line, as a shell does.
class CommandReader {
 public:
  /// Returns true if the command is complete.
  bool add(std::string_view line) {
    if (!text_.empty()) text_ += '\n';
    bool continues = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quote_ != '\'' && c == '\\') {
        continues = i + 1 == line.size();
        text_ += line.substr(i, 2);
        ++i;
        continue;
      }
      if (quote_ == 0 && c == '#' && (i == 0 || line[i - 1] == ' ')) {
        comment_ = trimmed(line.substr(i + 1));
        break;
      }
      if (quote_ == c) {
        quote_ = 0;
      } else if (quote_ == 0 && (c == '\'' || c == '"')) {
        quote_ = c;
      }
      text_ += c;
    }
    return quote_ == 0 && !continues;
  }

  [[nodiscard]] std::string text() const { return trimmed(text_); }
  [[nodiscard]] const std::string& comment() const { return comment_; }

 private:
  std::string text_;
  std::string comment_;
  char quote_ = 0;  ///< That is open; 0 without.
};

bool is_console(const CodeBlock& block) {
  return block.language == "console" ||
         (block.language.empty() && !block.lines.empty() && block.lines.front().starts_with(kPrompt));
}

void add_commands(const std::string& page, const CodeBlock& block, std::vector<PageCommand>& out) {
  const bool console = is_console(block);
  CommandReader reader;
  int begin = -1;  // Index of the first line of the command that is being read; -1 without.
  for (std::size_t i = 0; i < block.lines.size(); ++i) {
    std::string_view line = block.lines[i];
    if (begin < 0 && console) {
      if (!line.starts_with(kPrompt)) {
        if (!out.empty()) out.back().output += std::string(line) + "\n";
        continue;
      }
      line.remove_prefix(kPrompt.size());
    }
    if (begin < 0) begin = static_cast<int>(i);
    if (!reader.add(line) && i + 1 < block.lines.size()) continue;
    if (!reader.text().empty()) {
      out.push_back({page, block.line + begin, block.heading, block.number, reader.text(), reader.comment(), {}});
    }
    reader = {};
    begin = -1;
  }
}

}  // namespace

std::string PageCommand::where() const { return fmt::format("{}:{}", page, line); }

std::vector<PageCommand> commands_of_text(const std::string& page, std::string_view text) {
  std::vector<PageCommand> commands;
  for (const CodeBlock& block : blocks_of(text)) {
    const bool shell = block.language == "sh" || block.language == "bash" || block.language == "shell";
    if (shell || is_console(block)) add_commands(page, block, commands);
  }
  return commands;
}

std::vector<PageCommand> commands_of_page(const std::string& page) {
  return commands_of_text(page, read_file(page).value_or(""));
}

std::vector<std::string> commands_of_section(const std::string& page, const std::string& heading, int block) {
  std::vector<std::string> commands;
  for (const PageCommand& command : commands_of_page(page)) {
    if (command.heading == heading && command.block == block) commands.push_back(command.text);
  }
  return commands;
}

Result<std::string> block_of_section(const std::string& page, const std::string& heading, const std::string& language,
                                     int block) {
  ASSIGN_OR_RETURN(const std::string text, read_file(page));
  for (const CodeBlock& each : blocks_of(text)) {
    if (each.heading != heading || each.language != language || each.number != block) continue;
    return fmt::format("{}\n", fmt::join(each.lines, "\n"));
  }
  return Error::not_found("{}: no block {} of the language {} below \"{}\"", page, block, language, heading);
}

}  // namespace tpuslice
