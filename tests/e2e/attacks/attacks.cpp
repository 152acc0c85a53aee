#include "tests/e2e/attacks/attacks.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "api/types/conditions.h"
#include "tests/e2e/attacks/attack_objects.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr ResourceType kEventType{"events.k8s.io", "v1", "Event", "events"};

// Messages that the tenant reads.

std::string create(AttackPlane& plane, const ResourceType& type, const Object& object) {
  const auto created = plane.client().create(type, object);
  return created ? std::string() : created.error().message();
}

/// The message of a condition once it is False, or what create() returned.
std::string create_and_wait(AttackPlane& plane, const ResourceType& type, const Object& object,
                            const std::string& condition = "tpuslice.dev/Accepted") {
  if (std::string refused = create(plane, type, object); !refused.empty()) return "not stored: " + refused;
  std::string message;
  static_cast<void>(eventually(
      [&] {
        const auto live = plane.client().get(type, object.key());
        if (!live) return false;
        const Json& conditions = array_at(live->json(), {"status", "conditions"});
        const Json* found = find_condition(conditions, condition);
        if (found == nullptr || string_at(*found, {"status"}) != "False") return false;
        message = string_at(*found, {"message"});
        return true;
      },
      20s));
  return message;
}

/// Waits until the operator has created that many pods.
std::string wait_for_pods(AttackPlane& plane, std::size_t count) {
  std::size_t found = 0;
  static_cast<void>(eventually(
      [&] {
        const auto pods = plane.client().list(kPods, {.namespace_name = "default"}, {});
        if (pods) found = pods->items.size();
        return found >= count;
      },
      20s));
  return fmt::format("{} pods", found);
}

/// Scales a LeaderWorkerSet, and waits until the operator has scaled its leader set.
std::string scale_and_wait(AttackPlane& plane, const std::string& name, std::int64_t replicas) {
  const ObjectKey key{"default", name};
  const auto scaled =
      plane.client().patch(kSetType, key, client::PatchType::kMerge, {{"spec", {{"replicas", replicas}}}});
  if (!scaled) return scaled.error().message();
  std::int64_t found = 0;
  static_cast<void>(eventually(
      [&] {
        const auto set = plane.client().get(kStatefulSets, key);
        if (set) found = int_at(set->json(), {"spec", "replicas"});
        return found == replicas;
      },
      20s));
  return fmt::format("{} groups", found);
}

/// The note of an event of that object with that reason.
std::string wait_for_event(AttackPlane& plane, const std::string& name, const std::string& reason) {
  std::string message;
  static_cast<void>(eventually(
      [&] {
        const auto events = plane.client().list(kEventType, {.namespace_name = "default"}, {});
        if (!events) return false;
        for (const std::string& item : events->items) {
          const Json event = Json::parse(item);
          const bool found = string_at(event, {"reason"}) == reason && string_at(event, {"regarding", "name"}) == name;
          if (found) message = string_at(event, {"note"});
        }
        return !message.empty();
      },
      20s));
  return message;
}

std::string post_review(AttackPlane& plane, const std::string& path, const std::string& body) {
  auto connection = plane.connect_to_webhook();
  if (!connection) return connection.error().message();
  const Status posted = (*connection)->post(path, body);
  return posted ? "answered" : posted.error().message();
}

/// TCP connections that send `bytes` and then nothing, from 127.0.0.2.
class SilentClients {
 public:
  SilentClients(const std::vector<int>& ports, int each, const std::string& bytes = {}) {
    for (const int port : ports) {
      for (int i = 0; i < each; ++i) open(port, bytes);
    }
  }
  ~SilentClients() {
    for (const int client : clients_) ::close(client);
  }
  SilentClients(const SilentClients&) = delete;
  SilentClients& operator=(const SilentClients&) = delete;

  [[nodiscard]] std::size_t size() const { return clients_.size(); }

 private:
  void open(int port, const std::string& bytes) {
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in own{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(0x7f000002)}, .sin_zero = {}};
    sockaddr_in server{.sin_family = AF_INET,
                       .sin_port = htons(static_cast<std::uint16_t>(port)),
                       .sin_addr = {htonl(0x7f000001)},
                       .sin_zero = {}};
    const bool connected = ::bind(client, reinterpret_cast<const sockaddr*>(&own), sizeof(own)) == 0 &&
                           ::connect(client, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) == 0;
    if (!connected) {
      ::close(client);
      return;
    }
    if (!bytes.empty()) static_cast<void>(::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    clients_.push_back(client);
  }

  std::vector<int> clients_;
};

/// "ready" if the probes are answered while the clients are silent.
std::string probe(AttackPlane& plane, const SilentClients& clients) {
  const bool ready = plane.op().ready() && plane.op().metrics().ok();
  tpuslice::pause(1s, {});
  return fmt::format("{} of {} connections, {}", clients.size(), clients.size(),
                     ready && plane.op().ready() ? "probes answered" : "probes failed");
}

/// Pods that look like hosts of slices: they are created without, since admission refuses a wrong label.
void forge_pods(AttackPlane& plane, int count, const std::function<void(int, Json&)>& change,
                const std::function<Json(int)>& annotations) {
  for (int i = 0; i < count; ++i) {
    Json pod = tpu_pod(fmt::format("forged-{}", i), 1, "tpu-v6e-slice", "4x4");
    pod["metadata"].erase("labels");
    pod["spec"]["schedulingGates"] = Json::array({Json{{"name", "tpuslice.dev/slice"}}});
    change(i, pod);
    const auto created = plane.client().create(kPods, Object(pod));
    if (!created) continue;
    static_cast<void>(plane.client().patch(
        kPods, created->key(), client::PatchType::kMerge,
        {{"metadata",
          {{"labels", {{"tpuslice.dev/slice", fmt::format("forged-{}", i)}}}, {"annotations", annotations(i)}}}}));
  }
}

Json host_annotations(const std::string& hosts, const std::string& topology_key = "cloud.google.com/gke-nodepool") {
  return {{"tpuslice.dev/slice-hosts", hosts},
          {"tpuslice.dev/slice-host", "0"},
          {"tpuslice.dev/topology-key", topology_key}};
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// An argument of that many bytes.
std::string large(std::size_t bytes) { return std::string(bytes, 'x'); }

}  // namespace

std::vector<Attack> attacks_on_admission() {
  return {
      {"Nothing", [](AttackPlane&) { return std::string("nothing"); }, "nothing"},
      {"RayClusterOfAHundredMillionHosts",
       [](AttackPlane& plane) {
         return create(plane, kRayClusterType, ray_cluster("hosts", Json::array({ray_group("g", 0, 100'000'000)})));
       },
       "should be less than or equal to 9216"},
      {"JobSetOfThreeHundredThousandJobs",
       [](AttackPlane& plane) {
         return create(plane, kJobSetType, job_set("jobs", Json::array({replicated_job("w", 300'000)})));
       },
       "should be less than or equal to 10000"},
      {"LeaderWorkerSetOfAMillionGroups",
       [](AttackPlane& plane) { return create(plane, kSetType, leader_worker_set("groups", 1'000'000, 1)); },
       "should be less than or equal to 10000"},
      {"JobSetOfTwoThousandReplicatedJobs",
       [](AttackPlane& plane) {
         Json jobs = Json::array();
         for (int i = 0; i < 2000; ++i) jobs.push_back(replicated_job(fmt::format("j{}", i), 1));
         return create(plane, kJobSetType, job_set("many", std::move(jobs)));
       },
       "must have at most 256 items"},
      {"PodOfAGroupOfFiveMillion",
       [](AttackPlane& plane) { return create(plane, kPods, Object(group_pod("serve-0", "5000000"))); },
       "a slice has no more than 9216 processes"},
      {"PodWithNinetySixTpuContainers",
       [](AttackPlane& plane) { return create(plane, kPods, Object(tpu_pod("p", 96, "tpu7x", "4x4x8"))); },
       "a host has at most 8 chips"},
      {"ReviewOfSevenMebibytesOfObjects",
       [](AttackPlane& plane) {
         return post_review(plane, "/mutate-v1-pod", review_of("[" + repeated("{},", 2'300'000) + "{}]"));
       },
       "JSON has more than 200000 values"},
      {"EightReviewsOfSevenMebibytesAtATime",
       [](AttackPlane& plane) {
         const std::string body = review_of("[" + repeated("{},", 2'300'000) + "{}]");
         std::vector<std::jthread> threads;
         std::vector<std::string> message(8);
         for (std::string& each : message) {
           threads.emplace_back([&] { each = post_review(plane, "/mutate-v1-pod", body); });
         }
         threads.clear();
         return message.front() + message.back();
       },
       ""},
      {"ReviewNestedAHundredThousandLevelsDeep",
       [](AttackPlane& plane) {
         return post_review(plane, "/mutate-v1-pod", review_of(repeated("[", 100'000) + repeated("]", 100'000)));
       },
       "400"},
      {"RayClusterWithABigTemplate",
       [](AttackPlane& plane) {
         const Object cluster =
             ray_cluster("big", Json::array({ray_group("g", 20, 1, pod_template(large(1'000'000)))}));
         if (std::string refused = create(plane, kRayClusterType, cluster); !refused.empty()) return refused;
         return wait_for_pods(plane, 21);
       },
       "21 pods"},
      {"JobSetOfTwoThousandPatterns",
       [](AttackPlane& plane) {
         Object jobs = job_set("patterns", Json::array({replicated_job("w", 1)}));
         Json rule = {{"name", "r"}, {"action", "FailJobSet"}, {"onJobFailureMessagePatterns", Json::array()}};
         for (int i = 0; i < 2000; ++i) {
           rule["onJobFailureMessagePatterns"].push_back(fmt::format("((a|b{}){{1,30}}c?){{1,30}}", i));
         }
         jobs.mutable_json()["spec"]["failurePolicy"] = {{"maxRestarts", 1}, {"rules", Json::array({rule})}};
         return create(plane, kJobSetType, jobs);
       },
       "onJobFailureMessagePatterns: Too many: 2000: must have at most 64 items"},
      {"RayClusterThatListsFortyThousandWorkersToDelete",
       [](AttackPlane& plane) {
         Json group = ray_group("g", 10'000, 1);
         for (int i = 0; i < 40'000; ++i) {
           group["scaleStrategy"]["workersToDelete"].push_back(fmt::format("workers-g-worker-{}-0-aaaaa", i));
         }
         group["replicas"] = 0;
         return create(plane, kRayClusterType, ray_cluster("listed", Json::array({std::move(group)})));
       },
       ""},
      {"StatefulSetWithTheNameOfAGroupOfTwoBillion",
       [](AttackPlane& plane) {
         if (std::string refused = create(plane, kSetType, leader_worker_set("serve", 1, 2)); !refused.empty())
           return refused;
         if (std::string refused = create(plane, kStatefulSets, named_like_group("serve", 2'147'483'647));
             !refused.empty())
           return refused;
         return scale_and_wait(plane, "serve", 2);
       },
       "2 groups"},
      {"LabelOfAnotherSliceOnARunningPod",
       [](AttackPlane& plane) {
         Json pod = tpu_pod("relabelled", 1, "tpu-v6e-slice", "4x4");
         pod["metadata"].erase("labels");
         if (std::string refused = create(plane, kPods, Object(pod)); !refused.empty()) return refused;
         const auto patched = plane.client().patch(kPods, {"default", "relabelled"}, client::PatchType::kMerge,
                                                   {{"metadata", {{"labels", {{"tpuslice.dev/slice", "theirs"}}}}}});
         return patched ? std::string() : patched.error().message();
       },
       "metadata.labels[tpuslice.dev/slice]: field is immutable"},
      {"AnnotationOfAPlacementOnARunningPod",
       [](AttackPlane& plane) {
         Json pod = tpu_pod("placed", 1, "tpu-v6e-slice", "4x4");
         pod["metadata"].erase("labels");
         if (std::string refused = create(plane, kPods, Object(pod)); !refused.empty()) return refused;
         const auto patched =
             plane.client().patch(kPods, {"default", "placed"}, client::PatchType::kMerge,
                                  {{"metadata", {{"annotations", {{"tpuslice.dev/placed-in", "pool-of-others"}}}}}});
         return patched ? std::string() : patched.error().message();
       },
       "describe a slice and its placement are set by the operator only"},
      {"LabelOfASliceOnAPodWithoutTpus",
       [](AttackPlane& plane) {
         return create(plane, kPods, Object(plain_pod({{"tpuslice.dev/slice", "theirs"}})));
       },
       "only pods that request google.com/tpu"},
      {"LabelOfASliceOnAPodOfALeaderWorkerSet",
       [](AttackPlane& plane) {
         return create(
             plane, kPods,
             Object(plain_pod({{"tpuslice.dev/slice", "theirs"}, {"leaderworkerset.sigs.k8s.io/name", "x"}})));
       },
       "only pods that request google.com/tpu"},
      {"LabelOfASliceOnAPodOfZeroTpus",
       [](AttackPlane& plane) {
         Json pod = plain_pod({{"tpuslice.dev/slice", "theirs"}});
         pod["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] = "0";
         return create(plane, kPods, Object(pod));
       },
       "only pods that request google.com/tpu"},
      {"LabelOfASliceOnARunningPodWithoutTpus",
       [](AttackPlane& plane) {
         if (std::string refused = create(plane, kPods, Object(plain_pod({}))); !refused.empty()) return refused;
         const auto patched = plane.client().patch(kPods, {"default", "plain"}, client::PatchType::kMerge,
                                                   {{"metadata", {{"labels", {{"tpuslice.dev/slice", "none"}}}}}});
         return patched ? std::string() : patched.error().message();
       },
       "only pods that request google.com/tpu"},
      {"AnnotationOfAPlacementThroughTheStatus",
       [](AttackPlane& plane) {
         Json pod = tpu_pod("placed", 1, "tpu-v6e-slice", "4x4");
         pod["metadata"].erase("labels");
         if (std::string refused = create(plane, kPods, Object(pod)); !refused.empty()) return refused;
         client::PatchOptions status;
         status.subresource = "status";
         const auto patched = plane.client().patch(
             kPods, {"default", "placed"}, client::PatchType::kMerge,
             {{"metadata", {{"annotations", {{"tpuslice.dev/placed-in", "pool-of-others"}}}}}}, status);
         return patched ? std::string() : patched.error().message();
       },
       "describe a slice and its placement are set by the operator only"},
      {"TopologyKeyThatAllNodesShare",
       [](AttackPlane& plane) {
         Json pod = tpu_pod("greedy", 1, "tpu-v6e-slice", "4x4");
         pod["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] = "4";
         pod["metadata"]["annotations"] = {{"tpuslice.dev/gating", "off"},
                                           {"tpuslice.dev/topology-key", "cloud.google.com/gke-tpu-accelerator"}};
         return create(plane, kPods, Object(pod));
       },
       "Unsupported value: \"cloud.google.com/gke-tpu-accelerator\""},
      {"ThousandIdleConnectionsToEachPort",
       [](AttackPlane& plane) { return probe(plane, SilentClients(plane.ports(), 1000)); }, "probes answered"},
      {"FiveThousandIdleConnectionsToEachPort",
       [](AttackPlane& plane) { return probe(plane, SilentClients(plane.ports(), 5000)); }, "probes answered"},
      {"ThousandHalfRequestsToEachPort",
       [](AttackPlane& plane) {
         return probe(plane, SilentClients(plane.ports(), 1000,
                                           "POST /mutate-v1-pod HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n{"));
       },
       "probes answered"},
  };
}

std::vector<Attack> attacks_on_controllers() {
  return {
      {"StoredRayClusterOfAHundredMillionHosts",
       [](AttackPlane& plane) {
         return create_and_wait(plane, kRayClusterType,
                                ray_cluster("hosts", Json::array({ray_group("g", 0, 100'000'000)})));
       },
       "must be less than or equal to 9216"},
      {"StoredRayClusterOfTwoBillionWorkers",
       [](AttackPlane& plane) {
         return create_and_wait(plane, kRayClusterType,
                                ray_cluster("workers", Json::array({ray_group("g", 2'000'000'000, 1)})));
       },
       "the maximum of a RayCluster is 10000"},
      {"StoredJobSetOfThreeHundredThousandJobs",
       [](AttackPlane& plane) {
         return create_and_wait(plane, kJobSetType, job_set("jobs", Json::array({replicated_job("w", 300'000)})));
       },
       "the maximum of a JobSet is 10000"},
      {"StoredJobSetOfFourHundredReplicatedJobs",
       [](AttackPlane& plane) {
         Json jobs = Json::array();
         for (int i = 0; i < 400; ++i) jobs.push_back(replicated_job(fmt::format("j{}", i), 1));
         return create_and_wait(plane, kJobSetType, job_set("many", std::move(jobs)));
       },
       "must have at most 256 items"},
      {"StoredLeaderWorkerSetOfAMillionGroups",
       [](AttackPlane& plane) { return create_and_wait(plane, kSetType, leader_worker_set("groups", 1'000'000, 1)); },
       "must be between 0 and 10000"},
      {"StoredLeaderWorkerSetWithGroupsOfFiveMillion",
       [](AttackPlane& plane) { return create_and_wait(plane, kSetType, leader_worker_set("size", 1, 5'000'000)); },
       "must be between 1 and 100000"},
      {"StoredJobSetFullOfTinyValues",
       [](AttackPlane& plane) {
         Json pods = pod_template();
         Json& env = pods["spec"]["containers"][0]["env"];
         for (int i = 0; i < 60'000; ++i) env.push_back({{"name", "A"}});
         const std::string refused =
             create(plane, kJobSetType, job_set("tiny", Json::array({replicated_job("w", 1, std::move(pods))})));
         return refused.empty() ? wait_for_event(plane, "tiny", "FailedDecode") : refused;
       },
       "more than 100000 values"},
      {"FifteenStoredRayClustersOfNineHundredKilobytes",
       [](AttackPlane& plane) {
         const Json group = ray_group("g", 0, 1, pod_template(large(900'000)));
         for (int i = 0; i < 15; ++i) {
           const Object cluster = ray_cluster(fmt::format("large-{}", i), Json::array({group}));
           if (std::string refused = create(plane, kRayClusterType, cluster); !refused.empty()) return refused;
         }
         return std::string("they have room");  // e2e_memory_budget_test has more than have room.
       },
       "they have room"},
      {"TwoHundredPodsOfForgedSlicesOfNineThousandHosts",
       [](AttackPlane& plane) {
         forge_pods(
             plane, 200, [](int, Json&) {}, [](int) { return host_annotations("9216"); });
         return std::string();
       },
       ""},
      {"TwoHundredForgedSlicesWithDifferentNodeSelectors",
       [](AttackPlane& plane) {
         const auto select = [](int i, Json& pod) { pod["spec"]["nodeSelector"]["never"] = fmt::format("v{}", i); };
         forge_pods(plane, 200, select, [](int) { return host_annotations("1"); });
         return std::string();
       },
       ""},
      {"TwoHundredPodsWithDifferentAccelerators",
       [](AttackPlane& plane) {
         const auto select = [](int i, Json& pod) {
           pod["spec"]["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", fmt::format("tpu-of-mine-{}", i)}};
         };
         forge_pods(plane, 200, select, [](int) { return host_annotations("1"); });
         const auto samples = plane.op().metrics();
         std::size_t labels = 0;
         for (const MetricSample& sample : samples.value()) {
           const auto label = sample.labels.find("accelerator");
           if (label != sample.labels.end() && label->second.starts_with("tpu-of-mine")) ++labels;
         }
         return fmt::format("{} metrics", labels);
       },
       "0 metrics"},
      {"PodWithANodeAffinityOfAMegabyte",
       [](AttackPlane& plane) {
         const auto select = [](int, Json& pod) {
           Json values = Json::array();
           for (int i = 0; i < 60'000; ++i) values.push_back(fmt::format("node-{:08}", i));
           pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {
               {"nodeSelectorTerms",
                Json::array(
                    {Json{{"matchExpressions",
                           Json::array({Json{{"key", "a"}, {"operator", "In"}, {"values", std::move(values)}}})}}})}};
         };
         forge_pods(plane, 1, select, [](int) { return host_annotations("1"); });
         return wait_for_event(plane, "forged-0", "FailedDecode");
       },
       "no more than 32768 are read"},
  };
}

}  // namespace tpuslice::testing
