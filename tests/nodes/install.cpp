#include "tests/nodes/install.h"

#include <fmt/format.h>

namespace tpuslice::testing {

Result<std::string> run_kubectl(const NodeCluster& cluster, const std::string& arguments) {
  return output_of(fmt::format("kubectl --kubeconfig {} {}", cluster.kubeconfig(), arguments));
}

Status install_on_nodes(NodeCluster& cluster, const std::string& program, const std::string& command) {
  ASSIGN_OR_RETURN(const std::string output, output_of(fmt::format("tests/nodes/operator_image.sh '{}'", program)));
  const std::string archive = output.substr(output.rfind('\n') + 1);
  for (const auto& [name, node] : cluster.nodes()) {
    if (name.starts_with("cpu-")) RETURN_IF_ERROR(node->import_image(archive));
  }
  if (command.empty()) return {};
  const auto installed = run_kubectl(cluster, command);
  return installed ? wait_for_rollout(cluster) : installed.error().within("kubectl " + command);
}

Status wait_for_rollout(const NodeCluster& cluster) {
  const auto done =
      run_kubectl(cluster, "-n tpu-slice-system rollout status deployment/tpu-slice-operator --timeout=120s");
  return done ? Status() : done.error();
}

}  // namespace tpuslice::testing
