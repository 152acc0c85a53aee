// Options of the Fleet controller.
#pragma once

#include "tests/example_kind/rules/fleet_rules.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::example {

struct Options {
  rules::MutationOptions mutation{.kinds = own_kinds()};  ///< Mutation of TPU pods.
};

}  // namespace tpuslice::example
