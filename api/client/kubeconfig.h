// Kubeconfig: the merge of one or more kubeconfig files. Private to this folder; see config.h.
#pragma once

#include <map>
#include <string>

#include "api/client/config.h"
#include "api/types/json.h"

namespace tpuslice::client {

/// One cluster, user or context, and the file it is from.
struct KubeconfigEntry {
  Json value;
  std::string file;
};

class Kubeconfig {
 public:
  /// Adds a file; what earlier ones have under a name stays. Errors: InvalidArgument with the file's name.
  Status add(const std::string& file, const std::string& text);

  /// The configuration of `context` (empty: the current one). Errors: as load_kubeconfig.
  [[nodiscard]] Result<ClientConfig> resolve(const std::string& context, const ConfigSources& sources) const;

 private:
  using Entries = std::map<std::string, KubeconfigEntry, std::less<>>;

  Status add_entries(const std::string& file, const Json& document, const char* list, const char* member,
                     Entries& entries);

  Entries clusters_;
  Entries users_;
  Entries contexts_;
  std::string current_context_;
  std::string files_;  ///< For messages.
};

}  // namespace tpuslice::client
