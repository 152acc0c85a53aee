// Properties of every slice of every legal topology, for every kind.
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "api/types/validation_names.h"
#include "tests/support/admission.h"
#include "tests/support/pods.h"
#include "tpu/geometry.h"
#include "tpu/placement.h"
#include "tpu/rules/workload_kinds.h"
#include "tpu/worker_env.h"

namespace tpuslice::tpu {
namespace {

using testing::JobPod;
using testing::LwsPod;
using testing::PodShape;
using testing::RayPod;
using testing::StatefulSetPod;

/// Makes the pod of host `host` of a slice of `hosts`.
using PodMaker = std::function<Json(const PodShape& shape, int host, int hosts)>;

struct Numbering {
  const char* name;
  PodMaker pod;
};

std::vector<Numbering> numberings() {
  const auto ray = [](const PodShape& shape, int host, int) {
    RayPod pod{.accelerator = shape.accelerator, .topology = shape.topology, .chips = shape.chips};
    pod.replica = 3;
    pod.host = host;
    return pod.json();
  };
  const auto job_set = [](const PodShape& shape, int host, int) {
    return JobPod{shape, "", "js", host, "js", "w", 2, 1}.json();
  };
  const auto job = [](const PodShape& shape, int host, int hosts) {
    return JobPod{.shape = shape, .index = hosts + host}.json();
  };
  const auto stateful_set = [](const PodShape& shape, int host, int hosts) {
    return StatefulSetPod{shape, "serve", 2 * hosts + host}.json();
  };
  const auto lws = [](const PodShape& shape, int host, int hosts) {
    return LwsPod{.shape = shape, .worker = host, .size = hosts}.json();
  };
  const auto lws_without_leader = [](const PodShape& shape, int host, int hosts) {
    return LwsPod{.shape = shape, .worker = host + 1, .size = hosts + 1, .leader_has_tpus = false}.json();
  };
  const auto lws_subgroup = [](const PodShape& shape, int host, int hosts) {
    return LwsPod{.shape = shape, .worker = hosts + host, .size = 2 * hosts, .subgroup_size = hosts}.json();
  };
  return {{"ray", ray},
          {"job set", job_set},
          {"job", job},
          {"stateful set", stateful_set},
          {"lws", lws},
          {"lws without leader", lws_without_leader},
          {"lws subgroup", lws_subgroup}};
}

std::string value_of(const std::vector<EnvVar>& env, std::string_view name) {
  for (const EnvVar& variable : env) {
    if (variable.name == name) return variable.value;
  }
  return "";
}

/// The `index`-th entry of a comma list, and how many there are.
std::pair<std::string, std::size_t> entry_of(const std::string& list, std::size_t index) {
  std::string found;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin <= list.size(); ++count) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (count == index) found = list.substr(begin, end - begin);
    begin = end + 1;
  }
  return {found, count};
}

/// All hosts of a small slice; of a large one the first, the last and every so many.
std::vector<int> some_hosts(int hosts) {
  std::vector<int> some;
  for (int host = 0; host < hosts; host += std::max(1, hosts / 16)) some.push_back(host);
  if (some.back() != hosts - 1) some.push_back(hosts - 1);
  return some;
}

struct Seen {
  std::set<std::string> ids;
  std::set<std::string> lists;
  std::set<std::string> keys;
};

/// One host: its ids are its own, and the list of everybody leads to it.
void check_host(const Json& pod, int host, int hosts, std::size_t processes, Seen& seen) {
  const auto found = identity_of_pod(pod);
  ASSERT_TRUE(found.ok()) << found.error().message();
  ASSERT_TRUE(found->has_value());
  const SliceIdentity& identity = **found;
  ASSERT_EQ(identity.hosts, hosts);
  ASSERT_EQ(identity.host_index, host);
  seen.keys.insert(slice_key(identity));
  const std::vector<int> ports = process_ports(identity, pod["spec"]["containers"], identity.containers);
  ASSERT_EQ(ports.size(), processes);
  // Admission sets the hostname of RayCluster pods, their controllers that of others.
  std::string self = string_at(pod, {"spec", "hostname"}, identity.host_names.of(host));
  EXPECT_TRUE(check_dns1123_label(self).empty()) << self;
  self += "." + identity.subdomain;
  for (std::size_t process = 0; process < processes; ++process) {
    const auto env = worker_env(identity, process, ports, false);
    const std::string id = value_of(env, "TPU_WORKER_ID");
    EXPECT_EQ(id, std::to_string(static_cast<std::size_t>(host) * processes + process));
    EXPECT_TRUE(seen.ids.insert(id).second) << "worker id " << id << " twice";
    if (hosts == 1) continue;
    const std::string addresses = value_of(env, "TPU_PROCESS_ADDRESSES");
    if (addresses.empty()) {
      const std::string names = value_of(env, "TPU_WORKER_HOSTNAMES");
      seen.lists.insert(names);
      EXPECT_EQ(entry_of(names, std::stoul(id)), std::make_pair(self, static_cast<std::size_t>(hosts)));
    } else {
      seen.lists.insert(addresses);
      EXPECT_EQ(entry_of(addresses, std::stoul(id)), std::make_pair(self + ":" + value_of(env, "TPU_PROCESS_PORT"),
                                                                    static_cast<std::size_t>(hosts) * processes));
    }
  }
}

void check_shape(const Accelerator& accelerator, const Topology& topology, const std::vector<int>& chips,
                 const Numbering& numbering) {
  const PodShape shape{std::string(accelerator.label), topology.to_string(), chips};
  SCOPED_TRACE(
      fmt::format("{} {} in {} containers, {}", shape.accelerator, shape.topology, chips.size(), numbering.name));
  std::int64_t host_chips = 0;
  for (const int each : chips) host_chips += each;
  const int hosts = *host_count(topology, host_chips);
  const Bounds bounds = *host_bounds(topology, chips.front());
  ASSERT_EQ(bounds[0] * bounds[1] * bounds[2], hosts * static_cast<std::int64_t>(chips.size()))
      << "libtpu expects as many addresses as processes";
  Seen seen;
  for (const int host : some_hosts(hosts))
    check_host(numbering.pod(shape, host, hosts), host, hosts, chips.size(), seen);
  EXPECT_EQ(seen.keys.size(), 1U);
  EXPECT_EQ(seen.lists.size(), hosts > 1 ? 1U : 0U) << "one list for all";
}

TEST(IdentityProperty, HoldsForEveryLegalTopologyOfEveryGeneration) {
  const std::vector<Numbering> all = numberings();
  std::size_t shapes = 0;
  for (const Accelerator& accelerator : accelerators()) {
    for (const Topology& topology : legal_topologies(accelerator)) {
      for (const std::int64_t chips : chips_per_host_choices(accelerator, topology)) {
        std::vector<std::vector<int>> splits = {{static_cast<int>(chips)}};
        if (accelerator.splits_hosts() && chips == 4) splits.insert(splits.end(), {{2, 2}, {1, 1, 1, 1}});
        for (const auto& split : splits) {
          // Small slices with every numbering, of the large ones each with one.
          const bool small = topology.chips() <= 64;
          for (std::size_t turn = 0; turn < (small ? all.size() : 1); ++turn) {
            // A slice of one host is a pod of any group to LeaderWorkerSet, and a Job's first to everybody else.
            const Numbering& numbering = all[(shapes + turn) % all.size()];
            const bool one_host = topology.chips() == chips;
            if (one_host && std::string_view(numbering.name) != "ray") continue;
            check_shape(accelerator, topology, split, numbering);
          }
          ++shapes;
        }
      }
    }
  }
  EXPECT_GT(shapes, 2500U);
}

}  // namespace
}  // namespace tpuslice::tpu
