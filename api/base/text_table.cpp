#include "api/base/text_table.h"

#include <algorithm>

namespace tpuslice {
namespace {

constexpr std::size_t kGap = 3;
constexpr std::string_view kCutMark = "...";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

void widen(const std::vector<std::string>& cells, std::vector<std::size_t>& widths) {
  if (widths.size() < cells.size()) widths.resize(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], text_width(cells[i]));
}

void append_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths, std::string& out) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += printable(cells[i]);
    line.append(widths[i] - text_width(cells[i]) + kGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return result;
}

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

std::string cut_text(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return std::string(text);
  std::size_t kept = 0;
  std::size_t end = 0;
  while (end < text.size() && (continues_character(text[end]) || kept < width - kCutMark.size())) {
    if (!continues_character(text[end])) ++kept;
    ++end;
  }
  return std::string(text.substr(0, end)) + std::string(kCutMark);
}

std::string to_text(const TextTable& table, bool with_header) {
  std::vector<std::size_t> widths;
  if (with_header) widen(table.header, widths);
  for (const auto& row : table.rows) widen(row, widths);
  std::string out;
  if (with_header) append_line(table.header, widths, out);
  for (const auto& row : table.rows) append_line(row, widths, out);
  return out;
}

}  // namespace tpuslice
