// Checks of the installation, each of which asks the API server and returns what it found.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "api/client/client.h"
#include "cmd/kubectl-tpu/checks/finding.h"

namespace tpuslice::plugin {

/// What the checks work with; borrowed, and outlive them.
struct CheckInput {
  client::Client& api;
  std::string operator_namespace;  ///< "tpu-slice-system"
  std::string namespace_name;      ///< Namespace in which the user creates workloads.
  Timestamp now;
  std::stop_token stop;
};

/// The version of the API server.
[[nodiscard]] Finding check_api_server(const CheckInput& input);
/// The CustomResourceDefinitions: whether each serves our version, and who has installed it.
[[nodiscard]] std::vector<Finding> check_crds(const CheckInput& input);
/// The Deployment of the operator and its leader.
[[nodiscard]] std::vector<Finding> check_operator(const CheckInput& input);
/// The webhook configurations: whether the operator has written its CA.
[[nodiscard]] std::vector<Finding> check_webhook_configurations(const CheckInput& input);
/// Whether the API server reaches the webhook: it mutates a TPU pod that is created by a dry run.
[[nodiscard]] Finding check_webhook_call(const CheckInput& input);
/// Controllers of other projects that serve the same kinds.
[[nodiscard]] std::vector<Finding> check_upstream(const CheckInput& input);
/// TPU pods that admission has not seen.
[[nodiscard]] Finding check_pods(const CheckInput& input);
/// What the user may do.
[[nodiscard]] std::vector<Finding> check_rights(const CheckInput& input);

/// All of them, in this order.
[[nodiscard]] std::vector<Finding> check_installation(const CheckInput& input);

}  // namespace tpuslice::plugin
