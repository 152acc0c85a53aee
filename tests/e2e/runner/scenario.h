// A scenario: what happens to a cluster, and what has to come of it. One YAML file in tests/e2e/scenarios, played on a
// simulated cluster and on a real control plane by the same code.
//
//   name: worker-fails                  # as the file
//   description: A host of a slice fails, and the whole slice is rebuilt.
//   pools:                              # as in docs/simulator.md; without: the pools of tpu-slice-sim
//     - {name: a, accelerator: tpu-v6e-slice, topology: 4x4}
//   always:                             # at every change, from the first step to the last
//     - of: pods -l ray.io/node-type=worker
//       differ in:                      # no two that live are the same in all of these
//         - .metadata.labels.tpuslice\.dev/slice
//         - .metadata.labels.ray\.io/replica-host-index
//       except with: .spec.schedulingGates  # these do not live yet
//   steps:
//     - apply: deploy/samples/x.yaml    # a file, or the object itself: kubectl apply --server-side
//       refused: numOfHosts.* is 4      # it must be, with a message in which this is found; for patch and delete, too
//     - patch: raycluster/train         # with a mapping: a merge patch; with a list: a JSON patch
//       with: {spec: {suspend: true}}
//     - delete: raycluster/train
//     - fail: pods -l role=worker       # their kubelets evict them: phase Failed
//     - lose nodes of: pods -l id=2     # the kubelets of the nodes they run on fall silent
//     - return nodes: all               # those that were lost
//     - operator: kill                  # SIGKILL; stop (SIGTERM), start, restart (both), pause, resume
//     - apiserver: restart              # kill, start, or both
//     - run: kubectl get rayclusters    # a shell command; kubectl is in the scenario's namespace, HOME is its own
//       prints: train +4 +4 .* ready    # a line of its output; tried again until it is so
//       within: 20s
//     - remember: before                # values, for later steps
//       of: pods -l role=worker
//       field: .metadata.uid
//     - expect: pods -l role=worker     # tried again until it is so
//       within: 2m                      # or it has failed; without: 60s
//       count: 4                        # without: at least one
//       fields:
//         .status.phase: Running                                # of every one of them
//         .spec.hostname: {any order: [train-0, train-1]}       # of all of them together
//         .spec.subdomain: {all: equal}                         # or distinct
//         .spec.nodeName: {part: '^(.*)-[0-9]+$', all: equal}   # of what the group finds in it
//         .status.reason: {matches: ^Evicted}
//         .spec.schedulingGates: absent                         # or present
//         .metadata.uid: {none of: before}                      # or {same as: before}
//         .metadata.name: {equals: present}                     # a text that is a word of this format
//
// What is named is written as for kubectl get: "pods -l app=train", "raycluster/train", "nodes". Every scenario has a
// namespace of its own, which is its default. An unknown key or a wrong type is an error with file and line.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "api/base/clock.h"
#include "tests/e2e/runner/expectation.h"
#include "tests/e2e/runner/yaml_file.h"

namespace tpuslice::e2e {

/// "pods", "pods -l app=train", "pods/a" or "pods a"; the resource by any name that kubectl knows.
struct Target {
  std::string resource;
  std::string name;
  std::string selector;
  std::string text;
};

struct Apply {
  std::vector<Json> objects;
  std::string what;  ///< For the log.
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
  bool apiserver = false;  ///< Else the operator.
  std::string verb;
};
struct Run {
  std::string command;
  std::optional<std::regex> prints;  ///< Without: it has to end with 0.
  std::string pattern;               ///< `prints`, as it was written.
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
  std::variant<Apply, Patch, Delete, FailPods, LoseNodes, ReturnNodes, Control, Run, Remember, Expect> action;
  std::optional<std::regex> refused = {};
  Duration within = std::chrono::seconds(60);
};

/// No two objects that live have equal values in all of `fields`.
struct Distinctness {
  Target target;
  std::vector<FieldPath> fields;
  std::optional<FieldPath> unborn = {};  ///< What has this does not live yet.
};

struct Scenario {
  std::string name;
  std::string description;
  Json pools = {};  ///< As it is written; null: the default ones.
  std::vector<Distinctness> always;
  std::vector<Step> steps;
};

/// Files that it applies are read, too: their paths are relative to the working directory.
///
/// Errors: InvalidArgument with file and line.
[[nodiscard]] Result<Scenario> load_scenario(const std::string& path);
[[nodiscard]] Result<Scenario> parse_scenario(const std::string& path, const std::string& text);

/// All scenarios of a folder, by name, those with default pools first.
[[nodiscard]] Result<std::vector<Scenario>> load_scenarios(const std::string& folder);

}  // namespace tpuslice::e2e
