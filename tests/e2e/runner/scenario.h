// A scenario: changes of a cluster and the expected results. One YAML file in tests/e2e/scenarios, run in a simulated
// cluster and on a real control plane by the same code.
//
//   name: worker-fails                  # as the file
//   description: A host of a slice fails, and the whole slice is rebuilt.
//   pools:                              # as in docs/simulator.md; without: the pools of tpu-slice-sim
//     - {name: a, accelerator: tpu-v6e-slice, topology: 4x4}
//   operator flags:                     # in addition to those of the runner; scenarios with the same pools and flags
//     - --max-preemptions-per-hour=2    # share an operator
//   autoscaler:                         # tests/support/autoscaler: adds and removes whole node pools; writes the
//                                       # ConfigMap kube-system/cluster-autoscaler-status before the first step
//     provision time: 2s                # from the decision to the registration of the nodes; default: 1s
//     unneeded time: 5s                 # an empty pool is removed after this; default: never
//     backoff: 10s                      # after a failed scale-up; default: 5m
//     groups:                           # pools at zero, in the form of pools; min (0) and max: 0 or all hosts
//       - {name: extra-a, accelerator: tpu-v6e-slice, topology: 4x4}
//     without capacity: [extra-a]       # scale-ups of these groups fail after the provision time
//     provisioning requests: true       # serves autoscaling.x-k8s.io/v1 (tests/support/autoscaler)
//   always:                             # checked at every change, from the first step to the last
//     - of: pods -l ray.io/node-type=worker
//       differ in:                      # no two live objects have equal values in all of these fields
//         - .metadata.labels.tpuslice\.dev/slice
//         - .metadata.labels.ray\.io/replica-host-index
//       except with: .spec.schedulingGates  # objects that have this field are not checked
//       at most: 12                     # instead of differ in: not more live objects than these
//   steps:
//     - apply: deploy/samples/x.yaml    # a file, or the object itself: kubectl apply --server-side; objects without
//                                       # namespace are deleted at the end
//       refused: numOfHosts.* is 4      # a regular expression of the expected error; also for patch and delete
//     - patch: raycluster/train         # with a mapping: a merge patch; with a list: a JSON patch
//       with: {spec: {suspend: true}}
//     - delete: raycluster/train
//     - fail: pods -l role=worker       # the kubelet evicts them: phase Failed
//     - lose nodes of: pods -l id=2     # the nodes of these pods stop sending heartbeats
//     - return nodes: all               # all lost nodes send heartbeats again
//     - operator: kill                  # SIGKILL; stop (SIGTERM), start, restart (both), pause, resume
//     - apiserver: restart              # kill, start, or both
//     - autoscaler: stop                # or start
//     - capacity of: extra-a            # a group of the autoscaler
//       is: exhausted                   # or available
//     - requests: forbidden             # the API server has answered the operator with 403 since the last check;
//                                       # without this step, that fails the scenario
//     - ray job: rayjob/train           # Ray's dashboard, which is not real here, reports this for the job
//       is: SUCCEEDED                   # PENDING, RUNNING, STOPPED or FAILED; lost: it does not know the job
//       message: done
//     - serve applications: rayservice/llm
//       of: pending                     # its pending cluster, or active
//       are: {app: DEPLOYING}           # without this step, deployed applications are RUNNING; lost: none are deployed
//     - serve proxies: rayservice/llm   # healthy proxies run on the nodes of these pods
//       of: pending
//       on: pods -l ray.io/replica-host-index=0
//     - dashboards: slow                # failing, invalid, wrong types, huge, none (as they should be)
//     - dashboard request: POST .* /api/jobs/train-.*/stop   # has been received since the scenario began
//     - run: kubectl get rayclusters    # a shell command; kubectl uses the scenario's namespace, and the
//                                     # programs of this build are in the PATH
//       prints: train +4 +4 .* ready    # a regular expression of a line of its output; repeated until it matches
//       within: 20s
//     - remember: before                # saves values for later steps
//       of: pods -l role=worker
//       field: .metadata.uid
//     - expect: pods -l role=worker     # repeated until it is fulfilled
//       within: 2m                      # the time-out; default: 120s
//       count: 4                        # default: at least one
//       fields:
//         .status.phase: Running                                # of every object
//         .spec.hostname: {any order: [train-0, train-1]}       # of all objects together
//         .spec.subdomain: {all: equal}                         # or distinct
//         .spec.nodeName: {part: '^(.*)-[0-9]+$', all: equal}   # compares the first group of the match
//         .status.reason: {matches: ^Evicted}
//         .spec.schedulingGates: absent                         # or present
//         .metadata.uid: {none of: before}                      # or {same as: before}
//         .metadata.name: {equals: present}                     # a value that is a keyword of this format
//
// Objects are named as for kubectl get: "pods -l app=train", "raycluster/train", "nodes". Every scenario has its own
// namespace. An unknown key or a wrong type is an error with file and line.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "api/base/clock.h"
#include "cmd/tpu-slice-sim/ray/dashboards.h"
#include "tests/e2e/runner/expectation.h"
#include "tests/e2e/runner/yaml_file.h"
#include "tests/support/autoscaler/autoscaler.h"

namespace tpuslice::e2e {

/// "pods", "pods -l app=train", "pods/a" or "pods a"; the resource by any name that kubectl accepts.
struct Target {
  std::string resource;
  std::string name;
  std::string selector;
  std::string text;
};

struct Apply {
  std::vector<Json> objects;
  std::string name;  ///< For the log: the file, or kind and name.
};
struct Patch {
  Target target;
  Json body;
};
struct Delete {
  Target target;
};
struct FailPods {
  Target target;
};
struct LoseNodes {
  Target pods;
};
struct ReturnNodes {};
struct Control {
  bool apiserver = false;  ///< Of the API server; otherwise of the operator.
  std::string verb;
};
struct ControlAutoscaler {
  bool run = false;
};
struct SetCapacity {
  std::string group;
  bool available = false;
};
struct ExpectForbidden {};
struct SetRayJob {
  Target job;
  std::string status;  ///< "lost": unknown to the dashboard.
  std::string message;
};
/// The active or pending cluster of a RayService.
struct ServeCluster {
  Target service;
  bool pending = false;
};
struct SetApplications {
  ServeCluster cluster;
  std::map<std::string, std::string> statuses;  ///< Empty: none are deployed.
};
struct SetProxies {
  ServeCluster cluster;
  Target pods;
};
struct SetDashboards {
  sim::DashboardFault fault = sim::DashboardFault::kNone;
};
struct ExpectDashboardRequest {
  std::regex pattern;
  std::string text;
};
struct Run {
  std::string command;
  std::optional<std::regex> prints;  ///< Absent: the exit status must be 0.
  std::string pattern;               ///< The text of `prints`.
};
struct Remember {
  std::string name;
  Target target;
  FieldPath field;
};
struct Expect {
  Target target;
  Expectation expectation;
};

struct Step {
  std::string where;  ///< "tests/e2e/scenarios/tutorial.yaml:12"
  std::string title;  ///< "expect pods -l role=worker"
  std::variant<Apply, Patch, Delete, FailPods, LoseNodes, ReturnNodes, Control, ControlAutoscaler, SetCapacity,
               ExpectForbidden, SetRayJob, SetApplications, SetProxies, SetDashboards, ExpectDashboardRequest, Run,
               Remember, Expect>
      action;
  std::optional<std::regex> refused = {};
  Duration within = std::chrono::seconds(120);
};

/// An invariant: not more than `at_most` live objects have equal values in all of `fields`.
struct Distinctness {
  Target target;
  std::vector<FieldPath> fields;  ///< None: all live objects count.
  std::size_t at_most = 1;
  std::optional<FieldPath> except_with = {};  ///< Objects that have this field are not checked.
};

struct Scenario {
  std::string name;
  std::string description;
  Json pools = {};  ///< As in the file; null: the default pools.
  std::vector<std::string> operator_flags = {};
  std::optional<testing::AutoscalerOptions> autoscaler = {};
  std::vector<Distinctness> always;
  std::vector<Step> steps;
};

/// Also reads the files that it applies; their paths are relative to the working directory.
///
/// Errors: InvalidArgument with file and line.
[[nodiscard]] Result<Scenario> load_scenario(const std::string& path);
[[nodiscard]] Result<Scenario> parse_scenario(const std::string& path, const std::string& text);

/// All scenarios of a folder, sorted by pools (default pools first), then by the operator's flags, then by name.
[[nodiscard]] Result<std::vector<Scenario>> load_scenarios(const std::string& folder);

}  // namespace tpuslice::e2e
