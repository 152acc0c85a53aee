#include "tpu/rules/env_budget.h"

#include <string>

#include <fmt/format.h>

namespace tpuslice::rules {
namespace {

std::string describe_list(const EnvRequest& request) {
  if (request.processes == 0) return {};
  return request.processes == request.hosts
             ? fmt::format(" of {} hosts", request.hosts)
             : fmt::format(" of {} processes on {} hosts", request.processes, request.hosts);
}

Error too_long(const EnvRequest& request) {
  return Error::invalid_argument(
      "spec.{}: Too long: {}{} would have {} bytes in {}; admission adds no more than {} bytes of environment to a "
      "pod: use fewer containers, or shorter names of the workload and its service",
      request.list, request.variable, describe_list(request), request.bytes,
      request.containers == 1 ? "a container" : fmt::format("each of {} containers", request.containers), kMaxAddedEnv);
}

}  // namespace

Status EnvBudget::take(const EnvRequest& request) {
  // Neither factor is larger than a request, so the product is far below the largest number.
  const std::int64_t bytes = request.bytes * static_cast<std::int64_t>(request.containers);
  if (bytes > left_) return too_long(request);
  left_ -= bytes;
  return {};
}

}  // namespace tpuslice::rules
