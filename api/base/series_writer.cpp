#include "api/base/series_writer.h"

#include <iterator>

#include <fmt/format.h>

namespace tpuslice {
namespace {

void append_escaped(std::string_view value, std::string& out) {
  for (const char each : value) {
    if (each == '\n') {
      out += "\\n";
      continue;
    }
    if (each == '"' || each == '\\') out += '\\';
    out += each;
  }
}

}  // namespace

void SeriesWriter::family(std::string_view name, std::string_view help) {
  name_ = name;
  help_ = help;
  has_header_ = false;
}

void SeriesWriter::sample(std::initializer_list<Label> labels, double value) {
  const std::size_t before = text_.size();
  if (series_ < limits_.series) {
    if (!has_header_) fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} gauge\n", name_, help_, name_);
    text_ += name_;
    char separator = '{';
    for (const auto& [label, text] : labels) {
      text_ += separator;
      text_ += label;
      text_ += "=\"";
      append_escaped(text, text_);
      text_ += '"';
      separator = ',';
    }
    if (labels.size() > 0) text_ += '}';
    fmt::format_to(std::back_inserter(text_), " {:.12g}\n", value);
    if (text_.size() - begin_ <= limits_.bytes) {
      has_header_ = true;
      ++series_;
      return;
    }
    text_.resize(before);
  }
  ++left_out_;
}

}  // namespace tpuslice
