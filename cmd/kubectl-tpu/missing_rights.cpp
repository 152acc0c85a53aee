#include "cmd/kubectl-tpu/missing_rights.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "cmd/kubectl-tpu/kubectl.h"

namespace tpuslice::plugin {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";
constexpr std::array<std::string_view, 3> kReadingVerbs = {"get", "list", "watch"};

/// The text between the quotes that follow `before`, from `position` on, which is moved behind it.
std::optional<std::string> quoted(std::string_view message, std::string_view before, std::size_t& position) {
  const std::size_t found = message.find(before, position);
  if (found == std::string_view::npos) return std::nullopt;
  const std::size_t begin = found + before.size();
  const std::size_t end = message.find('"', begin);
  if (end == std::string_view::npos) return std::nullopt;
  position = end + 1;
  return std::string(message.substr(begin, end - begin));
}

std::string subject_of(const MissingRight& right) {
  if (!right.user.starts_with(kServiceAccount)) return "--user=" + shell_word(right.user);
  return "--serviceaccount=" + shell_word(std::string_view(right.user).substr(kServiceAccount.size()));
}

bool reads(const MissingRight& right) { return std::ranges::find(kReadingVerbs, right.verb) != kReadingVerbs.end(); }

/// Whether the ClusterRole tpu-slice-view (deploy/rbac) has the right.
bool in_view_role(const MissingRight& right) {
  static constexpr std::array<std::string_view, 13> kResources = {
      "pods",         "pods/log",         "services",         "events",  "jobs",
      "statefulsets", "rayclusters",      "raycronjobs",      "rayjobs", "rayservices",
      "jobsets",      "leaderworkersets", "disaggregatedsets"};
  return reads(right) && std::ranges::find(kResources, right.resource) != kResources.end();
}

}  // namespace

std::optional<MissingRight> parse_missing_right(std::string_view message) {
  std::size_t position = 0;
  MissingRight right;
  const auto user = quoted(message, "User \"", position);
  if (!user) return std::nullopt;
  right.user = *user;
  constexpr std::string_view kCannot = "cannot ";
  const std::size_t cannot = message.find(kCannot, position);
  if (cannot == std::string_view::npos) return std::nullopt;
  const std::size_t verb = cannot + kCannot.size();
  const std::size_t end = message.find(' ', verb);
  if (end == std::string_view::npos) return std::nullopt;
  right.verb = message.substr(verb, end - verb);
  position = end;
  if (message.substr(end).starts_with(" path \"")) {
    right.resource = quoted(message, "path \"", position).value_or("");
    return right;
  }
  const auto resource = quoted(message, "resource \"", position);
  if (!resource) return std::nullopt;
  right.resource = *resource;
  right.group = quoted(message, "in API group \"", position).value_or("");
  right.namespace_name = quoted(message, "in the namespace \"", position).value_or("");
  return right;
}

std::string grant_command(const MissingRight& right) {
  const bool fleet = (right.resource == "nodes" && reads(right)) || right.resource.starts_with("/fleet/");
  std::string name = right.user;
  std::ranges::replace_if(
      name, [](char c) { return !is_letter_or_digit(c) && c != '.' && c != '@'; }, '-');
  if (fleet) {
    return fmt::format("kubectl create clusterrolebinding {} --clusterrole=tpu-slice-fleet {}",
                       shell_word("tpu-slice-fleet-" + name), subject_of(right));
  }
  if (in_view_role(right)) {
    return right.namespace_name.empty()
               ? fmt::format("kubectl create clusterrolebinding {} --clusterrole=tpu-slice-view {}",
                             shell_word("tpu-slice-view-" + name), subject_of(right))
               : fmt::format("kubectl create rolebinding {} -n {} --clusterrole=tpu-slice-view {}",
                             shell_word("tpu-slice-view-" + name), shell_word(right.namespace_name), subject_of(right));
  }
  if (right.resource.starts_with("/")) {
    return fmt::format(
        "kubectl create clusterrole {0} --verb={1} --non-resource-url={2} && kubectl create "
        "clusterrolebinding {0} --clusterrole={0} {3}",
        shell_word("tpu-" + name), right.verb, shell_word(right.resource), subject_of(right));
  }
  const std::string what = right.group.empty() ? right.resource : right.resource + "." + right.group;
  const std::string role = shell_word("tpu-" + right.verb + "-" + name);
  if (right.namespace_name.empty()) {
    return fmt::format(
        "kubectl create clusterrole {0} --verb={1} --resource={2} && kubectl create clusterrolebinding "
        "{0} --clusterrole={0} {3}",
        role, right.verb, shell_word(what), subject_of(right));
  }
  return fmt::format(
      "kubectl create role {0} -n {4} --verb={1} --resource={2} && kubectl create rolebinding {0} -n {4} "
      "--role={0} {3}",
      role, right.verb, shell_word(what), subject_of(right), shell_word(right.namespace_name));
}

std::string grant_for(const Error& error) {
  if (error.code() != ErrorCode::kForbidden) return {};
  const auto right = parse_missing_right(error.message());
  return right ? grant_command(*right) : std::string();
}

}  // namespace tpuslice::plugin
