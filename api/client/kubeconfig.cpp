#include "api/client/kubeconfig.h"

#include <filesystem>
#include <set>

#include "api/base/base64.h"
#include "api/types/yaml.h"

namespace tpuslice::client {
namespace {

/// Reads the members of one entry, with errors that name file, entry and field.
class EntryReader {
 public:
  EntryReader(const KubeconfigEntry& entry, std::string kind, const std::string& name, const ConfigSources& sources)
      : entry_(entry), where_(fmt::format("{}: {} \"{}\"", entry.file, kind, name)), sources_(sources) {}

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const Json& json() const { return entry_.value; }
  [[nodiscard]] bool has(const char* field) const {
    const auto found = entry_.value.find(field);
    return found != entry_.value.end() && !found->is_null() && *found != "" && *found != Json::array();
  }

  /// "" where it is absent.
  [[nodiscard]] Result<std::string> text(const char* field) const {
    if (!has(field)) return std::string();
    const Json& value = entry_.value[field];
    if (value.is_string()) return value.get<std::string>();
    return Error::invalid_argument("{}: {} is {}, expected a string", where_, field, value.type_name());
  }

  [[nodiscard]] Result<bool> flag(const char* field) const {
    if (!has(field)) return false;
    const Json& value = entry_.value[field];
    if (value.is_boolean()) return value.get<bool>();
    return Error::invalid_argument("{}: {} is {}, expected true or false", where_, field, value.dump());
  }

  /// The path in a member, made absolute as seen from its file.
  [[nodiscard]] Result<std::string> path(const char* field) const {
    ASSIGN_OR_RETURN(const std::string value, text(field));
    if (value.empty()) return value;
    return (std::filesystem::path(entry_.file).parent_path() / value).lexically_normal().string();
  }

  /// The bytes of `<field>-data`, or else of the file `<field>` names, which is assigned to `file`; "" where both are
  /// absent.
  [[nodiscard]] Result<std::string> bytes(const std::string& field, std::string& file) const {
    const std::string data = field + "-data";
    ASSIGN_OR_RETURN(const std::string encoded, text(data.c_str()));
    if (!encoded.empty()) {
      std::optional<std::string> decoded = decode_base64(encoded);
      if (!decoded) return Error::invalid_argument("{}: {} is not base64", where_, data);
      return *std::move(decoded);
    }
    ASSIGN_OR_RETURN(file, path(field.c_str()));
    if (file.empty()) return std::string();
    Result<std::string> read = sources_.read_file(file);
    if (!read) return Error::invalid_argument("{}: {}: {}", where_, field, read.error().message());
    return read;
  }

 private:
  const KubeconfigEntry& entry_;
  const std::string where_;
  const ConfigSources& sources_;
};

Status read_cluster(const EntryReader& cluster, ClientConfig& config) {
  ASSIGN_OR_RETURN(config.server, cluster.text("server"));
  if (config.server.empty()) return Error::invalid_argument("{}: server is missing", cluster.where());
  ASSIGN_OR_RETURN(config.ca, cluster.bytes("certificate-authority", config.ca_file));
  ASSIGN_OR_RETURN(config.insecure_skip_verify, cluster.flag("insecure-skip-tls-verify"));
  if (config.insecure_skip_verify && !config.ca.empty()) {
    return Error::invalid_argument("{}: certificate-authority and insecure-skip-tls-verify exclude each other",
                                   cluster.where());
  }
  ASSIGN_OR_RETURN(config.tls_server_name, cluster.text("tls-server-name"));
  ASSIGN_OR_RETURN(config.proxy_url, cluster.text("proxy-url"));
  ASSIGN_OR_RETURN(config.disable_compression, cluster.flag("disable-compression"));
  return {};
}

Result<std::vector<std::pair<std::string, std::string>>> read_environment(const Json& exec, const std::string& where) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto list = exec.find("env");
  if (list == exec.end() || list->is_null()) return out;
  if (!list->is_array())
    return Error::invalid_argument("{}: exec.env is {}, expected a list", where, list->type_name());
  for (const Json& each : *list) {
    const std::string name = string_at(each, {"name"});
    if (name.empty() || name.find('=') != std::string::npos) {
      return Error::invalid_argument("{}: exec.env[{}].name is \"{}\", expected a variable's name", where, out.size(),
                                     name);
    }
    out.emplace_back(name, string_at(each, {"value"}));
  }
  return out;
}

Result<std::vector<std::string>> read_arguments(const Json& exec, const std::string& where) {
  std::vector<std::string> out;
  const auto list = exec.find("args");
  if (list == exec.end() || list->is_null()) return out;
  if (!list->is_array())
    return Error::invalid_argument("{}: exec.args is {}, expected a list", where, list->type_name());
  for (const Json& each : *list) {
    if (!each.is_string()) {
      return Error::invalid_argument("{}: exec.args[{}] is {}, expected a string", where, out.size(), each.dump());
    }
    out.push_back(each.get<std::string>());
  }
  return out;
}

Result<ExecConfig> read_exec(const Json& exec, const std::string& where, const std::string& file) {
  if (!exec.is_object()) return Error::invalid_argument("{}: exec is {}, expected a map", where, exec.type_name());
  ExecConfig out;
  out.api_version = string_at(exec, {"apiVersion"});
  constexpr std::string_view kGroup = "client.authentication.k8s.io/";
  if (out.api_version != std::string(kGroup) + "v1" && out.api_version != std::string(kGroup) + "v1beta1") {
    return Error::unsupported("{}: exec.apiVersion is \"{}\", expected {}v1 or {}v1beta1", where, out.api_version,
                              kGroup, kGroup);
  }
  out.command = string_at(exec, {"command"});
  if (out.command.empty()) return Error::invalid_argument("{}: exec.command is missing", where);
  const std::filesystem::path command(out.command);
  if (command.has_parent_path() && command.is_relative()) {
    out.command = (std::filesystem::path(file).parent_path() / command).lexically_normal().string();
    if (out.command.find('/') == std::string::npos) out.command.insert(0, "./");
  }
  const std::string mode = string_at(exec, {"interactiveMode"});
  if (mode == "Always") {
    return Error::unsupported("{}: exec.interactiveMode is Always, which needs a terminal", where);
  }
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable") {
    return Error::invalid_argument("{}: exec.interactiveMode is \"{}\", expected Never, IfAvailable or Always", where,
                                   mode);
  }
  if (mode.empty() && out.api_version.ends_with("/v1")) {
    return Error::invalid_argument("{}: exec.interactiveMode is missing, {} requires it", where, out.api_version);
  }
  ASSIGN_OR_RETURN(out.args, read_arguments(exec, where));
  ASSIGN_OR_RETURN(out.env, read_environment(exec, where));
  out.install_hint = string_at(exec, {"installHint"});
  const Json* provide = find_path(exec, {"provideClusterInfo"});
  out.provide_cluster_info = provide != nullptr && provide->is_boolean() && provide->get<bool>();
  return out;
}

/// The extension named client.authentication.k8s.io/exec: handed to plugins as spec.cluster.config.
std::string exec_extension(const Json& cluster) {
  const Json* list = find_path(cluster, {"extensions"});
  if (list == nullptr || !list->is_array()) return "";
  for (const Json& each : *list) {
    const Json* extension = find_path(each, {"extension"});
    if (string_at(each, {"name"}) == "client.authentication.k8s.io/exec" && extension != nullptr) {
      return extension->dump();
    }
  }
  return "";
}

Status read_user(const EntryReader& user, const std::string& file, const Json& cluster, ClientConfig& config) {
  for (const char* field : {"username", "password"}) {
    if (!user.has(field)) continue;
    return Error::unsupported(
        "{}: {} is set: API servers have no basic authentication; use a token, a client "
        "certificate or exec",
        user.where(), field);
  }
  if (user.has("auth-provider")) {
    return Error::unsupported("{}: auth-provider was removed from Kubernetes 1.26; use exec", user.where());
  }
  for (const char* field : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (user.has(field))
      return Error::unsupported("{}: {} is set, but impersonation is not supported", user.where(), field);
  }
  ASSIGN_OR_RETURN(config.client_certificate, user.bytes("client-certificate", config.client_certificate_file));
  ASSIGN_OR_RETURN(config.client_key, user.bytes("client-key", config.client_key_file));
  if (config.client_certificate.empty() != config.client_key.empty()) {
    return Error::invalid_argument("{}: client-certificate and client-key need each other; {} is missing", user.where(),
                                   config.client_key.empty() ? "client-key" : "client-certificate");
  }
  // As in kubectl, tokenFile takes precedence over token: it is read again when it is rotated.
  ASSIGN_OR_RETURN(config.token_file, user.path("tokenFile"));
  if (config.token_file.empty()) {
    ASSIGN_OR_RETURN(config.token, user.text("token"));
  }
  if (!user.has("exec")) return {};
  if (!config.token.empty() || !config.token_file.empty()) {
    return Error::invalid_argument("{}: exec and token exclude each other", user.where());
  }
  ASSIGN_OR_RETURN(config.exec, read_exec(user.json()["exec"], user.where(), file));
  config.exec->cluster_extension = exec_extension(cluster);
  return {};
}

template <typename Entries>
std::string names_of(const Entries& entries) {
  std::string out;
  for (const auto& [name, ignored] : entries) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

}  // namespace

Status Kubeconfig::add(const std::string& file, const std::string& text) {
  Result<Json> document = parse_yaml(text);
  if (!document) return document.error().within(file);
  files_ += (files_.empty() ? "" : ", ") + file;
  if (document->is_null()) return {};
  if (!document->is_object()) {
    return Error::invalid_argument("{}: is {}, expected a kubeconfig", file, document->type_name());
  }
  if (const std::string kind = string_at(*document, {"kind"}, "Config"); kind != "Config") {
    return Error::invalid_argument("{}: kind is {}, expected Config", file, kind);
  }
  if (current_context_.empty()) current_context_ = string_at(*document, {"current-context"});
  RETURN_IF_ERROR(add_entries(file, *document, "clusters", "cluster", clusters_));
  RETURN_IF_ERROR(add_entries(file, *document, "users", "user", users_));
  return add_entries(file, *document, "contexts", "context", contexts_);
}

Status Kubeconfig::add_entries(const std::string& file, const Json& document, const char* list, const char* member,
                               Entries& entries) {
  const auto found = document.find(list);
  if (found == document.end() || found->is_null()) return {};
  if (!found->is_array()) {
    return Error::invalid_argument("{}: {} is {}, expected a list", file, list, found->type_name());
  }
  std::size_t index = 0;
  for (const Json& each : *found) {
    const std::string name = string_at(each, {"name"});
    if (name.empty()) return Error::invalid_argument("{}: {}[{}].name is missing", file, list, index);
    const auto value = each.find(member);
    const bool absent = value == each.end() || value->is_null();
    if (!absent && !value->is_object()) {
      return Error::invalid_argument("{}: {} \"{}\" is {}, expected a map", file, member, name, value->type_name());
    }
    entries.emplace(name, KubeconfigEntry{absent ? Json::object() : *value, file});
    ++index;
  }
  return {};
}

Result<ClientConfig> Kubeconfig::resolve(const std::string& wanted, const ConfigSources& sources) const {
  const std::string name = wanted.empty() ? current_context_ : wanted;
  if (name.empty()) {
    return Error::invalid_argument("{}: current-context is not set; contexts: {}", files_, names_of(contexts_));
  }
  const auto context = contexts_.find(name);
  if (context == contexts_.end()) {
    return Error::invalid_argument("{}: there is no context \"{}\"; contexts: {}", files_, name, names_of(contexts_));
  }
  const EntryReader reader(context->second, "context", name, sources);
  ASSIGN_OR_RETURN(const std::string cluster_name, reader.text("cluster"));
  ASSIGN_OR_RETURN(const std::string user_name, reader.text("user"));
  ASSIGN_OR_RETURN(const std::string namespace_name, reader.text("namespace"));
  const auto cluster = clusters_.find(cluster_name);
  if (cluster == clusters_.end()) {
    return Error::invalid_argument("{}: there is no cluster \"{}\"; clusters: {}", reader.where(), cluster_name,
                                   names_of(clusters_));
  }
  ClientConfig config;
  if (!namespace_name.empty()) config.namespace_name = namespace_name;
  RETURN_IF_ERROR(read_cluster(EntryReader(cluster->second, "cluster", cluster_name, sources), config));
  if (user_name.empty()) return config;
  const auto user = users_.find(user_name);
  if (user == users_.end()) {
    return Error::invalid_argument("{}: there is no user \"{}\"; users: {}", reader.where(), user_name,
                                   names_of(users_));
  }
  RETURN_IF_ERROR(read_user(EntryReader(user->second, "user", user_name, sources), user->second.file,
                            cluster->second.value, config));
  return config;
}

}  // namespace tpuslice::client
