// The hosts of slices: what their pods are, and whether their identities agree. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/text_table.h"
#include "api/types/object.h"

namespace tpuslice::plugin {

/// How a container of a pod ended last.
struct LastExit {
  std::string container;
  std::int64_t code = 0;
  std::string reason;  ///< "OOMKilled"
  std::optional<Timestamp> at;
};

/// The end of a container of the pod that is the most recent one; nothing if all have run since the pod began.
[[nodiscard]] std::optional<LastExit> last_exit_of(const Object& pod);

/// When the first container of the pod failed for the first time that is still known; nothing if none has failed.
[[nodiscard]] std::optional<Timestamp> failed_at(const Object& pod);

/// What --check found about a host; "ok", or what is wrong.
struct HostCheck {
  std::string worker_id;
  std::string names;
  std::string peers;
  /// All is well, or will be once the host is Ready.
  [[nodiscard]] bool ok_when_ready() const;
  [[nodiscard]] bool ok() const { return worker_id == "ok" && names == "ok" && peers == "ok"; }
};

struct Host {
  std::string slice;
  int index = 0;
  std::string pod;
  std::string node;
  std::string phase;
  bool ready = false;
  std::int64_t restarts = 0;
  std::optional<LastExit> last_exit;
  std::string worker_id;  ///< TPU_WORKER_ID of the first container with TPUs; empty without one.
  std::optional<HostCheck> check;
};

/// `pods` are pods of slices, in the order of slice_pods_of().
[[nodiscard]] std::vector<Host> read_hosts(const std::vector<Object>& pods);

/// Sets Host::check of all that are hosts. `services`: the services of the namespace.
///
/// The worker id must be that of the host; TPU_WORKER_HOSTNAMES must have an entry for each host, which names it, and
/// be the same on all hosts of a slice; the headless service of these names must exist and select the pod.
void check_hosts(const std::vector<Object>& pods, const std::vector<Object>& services, std::vector<Host>& hosts);

/// What a shell in a container of a host runs to look up the names of TPU_WORKER_HOSTNAMES: it prints "+" for each name
/// that resolves, else "-" and the name, one a line.
[[nodiscard]] std::string lookup_script();
/// HostCheck::peers for its output: "ok", or how many resolve and the first that does not.
[[nodiscard]] std::string peers_of_lookup(std::string_view output);

[[nodiscard]] TextTable hosts_table(const std::vector<Host>& hosts, Timestamp now);
/// The version of the document is "tpuslice.dev/hosts.v1".
[[nodiscard]] Json hosts_document(const std::vector<Host>& hosts);

}  // namespace tpuslice::plugin
