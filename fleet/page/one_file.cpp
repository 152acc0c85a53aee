#include "fleet/page/one_file.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/base64.h"
#include "api/base/check.h"
#include "api/base/hash.h"
#include "api/base/strings.h"
#include "api/types/json_text.h"

namespace tpuslice::fleet {
namespace {

constexpr std::string_view kImport = "import ";
constexpr std::string_view kExport = "export ";

std::vector<std::string> lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return split(text, '\n');
}

/// The module that an import names: "dom.js" of `import { el } from "./dom.js";`.
std::string module_of(std::string_view import) {
  const std::size_t begin = import.find("\"./");
  const std::size_t end = import.rfind('"');
  TPUSLICE_CHECK(begin != std::string_view::npos && end > begin + 3);
  return std::string(import.substr(begin + 3, end - begin - 3));
}

/// The name that a line exports: "el" of `export function el(tag) {`.
std::string exported_name(std::string_view line) {
  for (const std::string_view keyword :
       {"export async function ", "export function ", "export const ", "export class "}) {
    if (!line.starts_with(keyword)) continue;
    const std::string_view rest = line.substr(keyword.size());
    return std::string(rest.substr(0, rest.find_first_of(" (=<{")));
  }
  TPUSLICE_CHECK(false);
}

class ModuleJoiner {
 public:
  explicit ModuleJoiner(const std::vector<PageFile>& files) : files_(files) {}

  void add(const std::string& name) {
    if (!added_.insert(name).second) return;
    const auto file = std::ranges::find(files_, name, &PageFile::name);
    TPUSLICE_CHECK(file != files_.end());
    const std::vector<std::string> lines = lines_of(file->text);
    for (const std::string& line : lines) {
      if (line.starts_with(kImport)) add(module_of(line));
    }
    append(name, lines);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void append(const std::string& name, const std::vector<std::string>& lines) {
    std::vector<std::string> exports;
    text_ += "{\n";
    for (const std::string& line : lines) {
      if (line.starts_with(kImport)) {
        // "import { a } from ..." becomes "const { a } = ...".
        const std::size_t from = line.rfind(" from ");
        TPUSLICE_CHECK(from != std::string::npos && line.starts_with("import {"));
        text_ += fmt::format("const {} = modules[\"{}\"];\n", line.substr(kImport.size(), from - kImport.size()),
                             module_of(line));
      } else if (line.starts_with(kExport)) {
        exports.push_back(exported_name(line));
        text_ += line.substr(kExport.size()) + "\n";
      } else {
        text_ += line + "\n";
      }
    }
    text_ += fmt::format("modules[\"{}\"] = {{ {} }};\n}}\n", name, fmt::join(exports, ", "));
  }

  const std::vector<PageFile>& files_;
  std::set<std::string> added_;
  std::string text_ = "const modules = {};\n";
};

/// The source of a Content-Security-Policy for an inline script or style.
std::string csp_hash(std::string_view text) {
  const std::string hex = sha256_hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + encode_base64(bytes) + "'";
}

/// Within a script element, "<" could end it or begin a comment.
std::string script_json(const Json& json) {
  std::string out;
  for (const char c : print_json(json)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

void replace_once(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  TPUSLICE_CHECK(at != std::string::npos);
  text.replace(at, from.size(), to);
}

}  // namespace

std::string joined_modules(const std::vector<PageFile>& files, std::string_view main) {
  ModuleJoiner joiner(files);
  joiner.add(std::string(main));
  return joiner.take();
}

std::string page_in_one_file(const Json& fleet, const Json& history) {
  const std::string script = joined_modules(page_files(), "main.js");
  const std::string_view style = find_page_file("style.css")->text;
  std::string html(find_page_file("index.html")->text);
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'",
      csp_hash(script), csp_hash(style));
  replace_once(
      html, "<meta charset=\"utf-8\">",
      fmt::format("<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", policy));
  replace_once(html, "<link rel=\"icon\" href=\"icon.svg\" type=\"image/svg+xml\">\n", "");
  replace_once(html, "<link rel=\"stylesheet\" href=\"style.css\">", fmt::format("<style>{}</style>", style));
  const std::string data = script_json({{"fleet", fleet}, {"history", history}});
  replace_once(html, "<script type=\"module\" src=\"main.js\"></script>",
               fmt::format("<script type=\"application/json\" id=\"fleet-data\">{}</script>\n"
                           "<script type=\"module\">{}</script>",
                           data, script));
  return html;
}

}  // namespace tpuslice::fleet
