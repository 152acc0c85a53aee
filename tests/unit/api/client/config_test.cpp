#include "api/client/config.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// Files and environment variables of a machine.
ConfigSources machine(std::map<std::string, std::string> files, std::map<std::string, std::string> environment = {}) {
  return {[environment = std::move(environment)](const std::string& name) -> std::optional<std::string> {
            const auto found = environment.find(name);
            return found == environment.end() ? std::nullopt : std::optional<std::string>(found->second);
          },
          [files = std::move(files)](const std::string& path) -> Result<std::string> {
            const auto found = files.find(path);
            if (found == files.end()) return Error::not_found("{}: no such file", path);
            return found->second;
          }};
}

const char* const kAllFields = R"(
apiVersion: v1
kind: Config
current-context: main
clusters:
- name: c
  cluster:
    server: https://example.com:6443/k8s
    certificate-authority-data: Y2EtcGVt
    tls-server-name: api.internal
    proxy-url: http://proxy:3128
    disable-compression: true
users:
- name: u
  user:
    client-certificate: certs/me.crt
    client-key: /abs/me.key
contexts:
- name: main
  context: {cluster: c, user: u, namespace: team}
- name: other
  context: {cluster: c, user: ""}
)";

TEST(Kubeconfig, ReadsAllFields) {
  const ClientConfig config =
      load_kubeconfig(
          "/home/me/config", "",
          machine({{"/home/me/config", kAllFields}, {"/home/me/certs/me.crt", "crt"}, {"/abs/me.key", "key"}}))
          .value();
  EXPECT_EQ(config.server, "https://example.com:6443/k8s");
  EXPECT_EQ(config.ca, "ca-pem");
  EXPECT_EQ(config.tls_server_name, "api.internal");
  EXPECT_EQ(config.proxy_url, "http://proxy:3128");
  EXPECT_TRUE(config.disable_compression);
  EXPECT_EQ(config.client_certificate, "crt");
  EXPECT_EQ(config.client_key, "key");
  EXPECT_EQ(config.namespace_name, "team");
}

TEST(Kubeconfig, UsesTheGivenContext) {
  const ClientConfig config = load_kubeconfig("/f", "other", machine({{"/f", kAllFields}})).value();
  EXPECT_EQ(config.client_certificate, "");
  EXPECT_EQ(config.namespace_name, "default");
}

std::string with_user(const std::string& user) {
  return "current-context: x\nclusters: [{name: c, cluster: {server: 'https://s'}}]\ncontexts: [{name: x, context: "
         "{cluster: c, user: u}}]\nusers:\n- name: u\n  user: " +
         user + "\n";
}

TEST(Kubeconfig, TheFirstFileWithAnEntryWins) {
  const std::string first = "current-context: x\nclusters: [{name: c, cluster: {server: 'https://first'}}]\n";
  const std::string second = with_user("{token: t}");
  const auto sources = machine({{"/a", first}, {"/b", second}}, {{"KUBECONFIG", "/missing:/a::/b"}});
  const ClientConfig config = load_kubeconfig("", "", sources).value();
  EXPECT_EQ(config.server, "https://first");
  EXPECT_EQ(config.token, "t");
}

TEST(Kubeconfig, FallsBackToTheHomeDirectory) {
  const auto sources = machine({{"/home/me/.kube/config", with_user("{token: t}")}}, {{"HOME", "/home/me"}});
  EXPECT_EQ(load_kubeconfig("", "", sources).value().token, "t");
  EXPECT_THAT(load_kubeconfig("", "", machine({}, {{"HOME", "/home/me"}})), IsError(ErrorCode::kNotFound));
}

TEST(Kubeconfig, TokenFilesAreRelativeToTheKubeconfigAndWinOverTokens) {
  const auto sources = machine({{"/home/me/.kube/config", with_user("{token: t, tokenFile: ../token}")}});
  const ClientConfig config = load_kubeconfig("/home/me/.kube/config", "", sources).value();
  EXPECT_EQ(config.token_file, "/home/me/token");
  EXPECT_EQ(config.token, "");
}

TEST(Kubeconfig, ReadsExecPlugins) {
  const auto sources = machine({{"/k/f", with_user(R"(
      exec:
        apiVersion: client.authentication.k8s.io/v1
        command: bin/plugin
        args: [get, --fast]
        env: [{name: A, value: b}]
        installHint: install it
        interactiveMode: IfAvailable
        provideClusterInfo: true)")}});
  const ClientConfig config = load_kubeconfig("/k/f", "", sources).value();
  ASSERT_TRUE(config.exec);
  EXPECT_EQ(config.exec->command, "/k/bin/plugin");
  EXPECT_THAT(config.exec->args, ElementsAre("get", "--fast"));
  EXPECT_THAT(config.exec->env, ElementsAre(Pair("A", "b")));
  EXPECT_EQ(config.exec->install_hint, "install it");
  EXPECT_TRUE(config.exec->provide_cluster_info);
}

TEST(Kubeconfig, CommandsWithoutASlashAreSearchedInPath) {
  const auto sources =
      machine({{"/k/f", with_user("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: plugin}}")}});
  EXPECT_EQ(load_kubeconfig("/k/f", "", sources).value().exec->command, "plugin");
}

struct InvalidFile {
  const char* name;
  std::string text;
  ErrorCode code;
  const char* part;  ///< Of the message, besides the path.
};

void PrintTo(const InvalidFile& invalid, std::ostream* out) { *out << invalid.name; }

class InvalidKubeconfig : public ::testing::TestWithParam<InvalidFile> {};

TEST_P(InvalidKubeconfig, ErrorsNameTheFileAndTheEntry) {
  const auto config = load_kubeconfig("/f", "", machine({{"/f", GetParam().text}}));
  EXPECT_THAT(config, IsError(GetParam().code, AllOf(HasSubstr("/f"), HasSubstr(GetParam().part))));
}

std::string with_cluster(const std::string& cluster) {
  return "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: " + cluster +
         "}]\n";
}

const std::string kExec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: a";

INSTANTIATE_TEST_SUITE_P(
    Files, InvalidKubeconfig,
    ::testing::Values(
        InvalidFile{"NoYaml", "a: [", ErrorCode::kInvalidArgument, ""},
        InvalidFile{"NoMap", "[1]", ErrorCode::kInvalidArgument, "array"},
        InvalidFile{"OtherKind", "kind: Pod", ErrorCode::kInvalidArgument, "kind is Pod"},
        InvalidFile{"NoCurrentContext", "contexts: [{name: a, context: {}}]", ErrorCode::kInvalidArgument,
                    "contexts: a"},
        InvalidFile{"UnknownContext", "current-context: x", ErrorCode::kInvalidArgument, "no context \"x\""},
        InvalidFile{"UnknownCluster", "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]",
                    ErrorCode::kInvalidArgument, "no cluster \"c\""},
        InvalidFile{"UnknownUser",
                    "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
                    "clusters: [{name: c, cluster: {server: 'https://s'}}]\n",
                    ErrorCode::kInvalidArgument, "no user \"u\""},
        InvalidFile{"NoServer", with_cluster("{}"), ErrorCode::kInvalidArgument, "cluster \"c\": server is missing"},
        InvalidFile{"BadBase64", with_cluster("{server: 'https://s', certificate-authority-data: '!'}"),
                    ErrorCode::kInvalidArgument, "certificate-authority-data"},
        InvalidFile{"MissingCa", with_cluster("{server: 'https://s', certificate-authority: ca.crt}"),
                    ErrorCode::kInvalidArgument, "/ca.crt"},
        InvalidFile{
            "InsecureWithCa",
            with_cluster("{server: 'https://s', certificate-authority-data: YQ==, insecure-skip-tls-verify: true}"),
            ErrorCode::kInvalidArgument, "exclude each other"},
        InvalidFile{"Password", with_user("{username: a, password: b}"), ErrorCode::kUnsupported,
                    "user \"u\": username"},
        InvalidFile{"AuthProvider", with_user("{auth-provider: {name: gcp}}"), ErrorCode::kUnsupported,
                    "auth-provider"},
        InvalidFile{"Impersonation", with_user("{token: t, as: admin}"), ErrorCode::kUnsupported, "impersonation"},
        InvalidFile{"CertificateAlone", with_user("{client-certificate-data: YQ==}"), ErrorCode::kInvalidArgument,
                    "client-key is missing"},
        InvalidFile{"TokenAndExec", with_user("{token: t, " + kExec + ", interactiveMode: Never}}"),
                    ErrorCode::kInvalidArgument, "exclude each other"},
        InvalidFile{"OldExec", with_user("{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: a}}"),
                    ErrorCode::kUnsupported, "v1alpha1"},
        InvalidFile{"InteractiveExec", with_user("{" + kExec + ", interactiveMode: Always}}"), ErrorCode::kUnsupported,
                    "Always"},
        InvalidFile{"ExecWithoutMode", with_user("{" + kExec + "}}"), ErrorCode::kInvalidArgument, "interactiveMode"},
        InvalidFile{"ExecWithBadArguments", with_user("{" + kExec + ", interactiveMode: Never, args: [1]}}"),
                    ErrorCode::kInvalidArgument, "exec.args[0]"}),
    [](const auto& each) { return std::string(each.param.name); });

const std::map<std::string, std::string> kServiceAccount = {
    {"/sa/token", "t"}, {"/sa/ca.crt", "ca"}, {"/sa/namespace", "system\n"}};

TEST(InCluster, UsesTheServiceAccount) {
  const auto sources =
      machine(kServiceAccount, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}});
  const ClientConfig config = in_cluster_config(sources, "/sa").value();
  EXPECT_EQ(config.server, "https://10.0.0.1:443");
  EXPECT_EQ(config.token_file, "/sa/token");
  EXPECT_EQ(config.ca, "ca");
  EXPECT_EQ(config.namespace_name, "system");
}

TEST(InCluster, PutsAnIpv6AddressInBrackets) {
  const auto sources =
      machine(kServiceAccount, {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}});
  EXPECT_EQ(in_cluster_config(sources, "/sa").value().server, "https://[fd00::1]:443");
}

TEST(InCluster, ReturnsNotFoundOutsideOfAPod) {
  EXPECT_THAT(in_cluster_config(machine({}), "/sa"), IsError(ErrorCode::kNotFound));
  const auto broken = machine({}, {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}});
  EXPECT_THAT(in_cluster_config(broken, "/sa"), IsError(ErrorCode::kInvalidArgument));
}

TEST(FindConfig, PrefersTheGivenFile) {
  const auto sources =
      machine({{"/f", with_user("{token: given}")}, {"/h/.kube/config", with_user("{token: home}")}}, {{"HOME", "/h"}});
  EXPECT_EQ(find_config("/f", "", sources).value().token, "given");
  EXPECT_EQ(find_config("", "", sources).value().token, "home");
}

}  // namespace
}  // namespace tpuslice::client
