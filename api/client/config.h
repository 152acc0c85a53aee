// ClientConfig: where the API server is and how we prove who we are; from a kubeconfig or from inside a pod.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::client {

/// A client-go credential plugin: a program that prints an ExecCredential.
struct ExecConfig {
  std::string api_version = {};  ///< client.authentication.k8s.io/v1 or v1beta1.
  std::string command = {};      ///< A relative path with a slash is resolved against the kubeconfig's folder.
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};  ///< Added to our own environment.
  std::string install_hint = {};
  bool provide_cluster_info = false;
  /// JSON of the cluster's client.authentication.k8s.io/exec extension; may be empty.
  std::string cluster_extension = {};
};

/// At most one of token, token_file and exec is set.
struct ClientConfig {
  std::string server = {};              ///< "https://host:port/base/path"
  std::string ca = {};                  ///< PEM
  std::string client_certificate = {};  ///< PEM; needs client_key.
  std::string client_key = {};          ///< PEM
  /// The files that these were read from, empty for inline data. Re-read once a minute.
  std::string ca_file = {};
  std::string client_certificate_file = {};
  std::string client_key_file = {};
  std::string token = {};
  std::string token_file = {};  ///< Re-read once a minute and after a 401.
  std::optional<ExecConfig> exec = {};
  std::string proxy_url = {};  ///< Proxy of the kubeconfig, else of the environment (proxy.h).
  std::string tls_server_name = {};
  bool insecure_skip_verify = false;
  bool disable_compression = false;
  std::string namespace_name = "default";
};

/// The environment and files, so that tests need neither.
struct ConfigSources {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  std::function<Result<std::string>(const std::string& path)> read_file;

  /// The sources of this process.
  static ConfigSources real();
};

/// Reads a kubeconfig as kubectl does. `path` empty: the files of KUBECONFIG (a ':' list; missing ones are skipped),
/// else ~/.kube/config. Of entries with one name the first file's wins; relative paths are relative to the file they
/// are in. `context` empty: the current context.
///
/// Errors: NotFound if there is no file at all; InvalidArgument naming file and entry; Unsupported for basic
/// authentication and auth-provider.
[[nodiscard]] Result<ClientConfig> load_kubeconfig(const std::string& path = {}, const std::string& context = {},
                                                   const ConfigSources& sources = ConfigSources::real());

/// From the pod's service account.
///
/// Errors: NotFound outside of a pod; InvalidArgument for unreadable files.
[[nodiscard]] Result<ClientConfig> in_cluster_config(
    const ConfigSources& sources = ConfigSources::real(),
    const std::string& directory = "/var/run/secrets/kubernetes.io/serviceaccount");

/// What a program does by default: `path` or KUBECONFIG if given, else in-cluster, else ~/.kube/config.
[[nodiscard]] Result<ClientConfig> find_config(const std::string& path = {}, const std::string& context = {},
                                               const ConfigSources& sources = ConfigSources::real());

}  // namespace tpuslice::client
