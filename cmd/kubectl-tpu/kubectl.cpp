#include "cmd/kubectl-tpu/kubectl.h"

#include <algorithm>

#include "api/base/strings.h"

namespace tpuslice::plugin {

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || std::string_view("-_./:@,=").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string quoted_text = "'";
  for (const char c : text) quoted_text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted_text + "'";
}

std::string connection_arguments(const GlobalOptions& options) {
  std::string text;
  if (!options.kubeconfig.empty()) text += " --kubeconfig=" + shell_word(options.kubeconfig);
  if (!options.context.empty()) text += " --context=" + shell_word(options.context);
  return text;
}

}  // namespace tpuslice::plugin
