// EnvBudget: how much environment admission may add to one pod.
//
// The lists of hosts are names and numbers of users multiplied, copied into every container: the budget is asked with
// the length that they would have, before they are built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/base/result.h"

namespace tpuslice::rules {

/// Bytes, in all containers together. etcd stores no object of more than 1.5 MiB.
inline constexpr std::int64_t kMaxAddedEnv = 1 << 20;

/// Variables that are to be added to some containers.
struct EnvRequest {
  std::string_view list;       ///< "containers" or "initContainers"
  std::string_view variable;   ///< "TPU_PROCESS_ADDRESSES"
  std::int64_t bytes = 0;      ///< In each container.
  std::size_t containers = 1;  ///< Containers that get them.
  std::int64_t processes = 0;  ///< Processes that the variable lists; 0 if it is not a list.
  std::int64_t hosts = 0;      ///< Hosts on which these run.
};

class EnvBudget {
 public:
  /// Errors: InvalidArgument if the variables do not fit in; then nothing is taken.
  [[nodiscard]] Status take(const EnvRequest& request);

 private:
  std::int64_t left_ = kMaxAddedEnv;
};

}  // namespace tpuslice::rules
