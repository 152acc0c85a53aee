// Pods with texts that admission would multiply by the hosts of a slice. The API server calls the webhook before it
// validates a pod, so a name can be as long as a request.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tests/e2e/attacks/attack_objects.h"
#include "tests/e2e/attacks/attacks.h"
#include "tests/support/pods.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using tpu::testing::JobPod;
using tpu::testing::LwsPod;
using tpu::testing::RayPod;

/// As an answer to such a pod; the fastest of some, as the machine runs other things. On an idle machine it takes less
/// than 50 ms, most of them the API server's.
constexpr Duration kSoon = 1s;
constexpr int kAttempts = 5;

std::string long_name() { return std::string(100'000, 'a'); }  // NOLINT(modernize-return-braced-init-list)

/// The error of the API server; only "late" if each answer took longer than kSoon.
std::string create_soon(AttackPlane& plane, Json pod) {
  for (Json& container : pod["spec"]["containers"]) container["image"] = "i";
  const Object object(std::move(pod));
  const RealClock clock;
  Duration fastest = 1h;
  std::string message;
  for (int i = 0; i < kAttempts; ++i) {
    const Instant begin = clock.now();
    const auto created = plane.client().create(kPods, object);
    fastest = std::min(fastest, Duration(clock.now() - begin));
    message = created ? "admitted" : created.error().message();
  }
  fmt::print("fastest answer: {:.1f} ms\n", std::chrono::duration<double, std::milli>(fastest).count());
  if (fastest > kSoon) return fmt::format("late: {} ms", std::chrono::duration<double, std::milli>(fastest).count());
  // It begins with the name.
  return message.substr(message.size() - std::min<std::size_t>(message.size(), 4096));
}

Attack attack(std::string name, Json pod, std::string message) {
  return {.name = std::move(name),
          .run = [pod = std::move(pod)](AttackPlane& plane) { return create_soon(plane, pod); },
          .message = std::move(message)};
}

}  // namespace

std::vector<Attack> attacks_with_long_names() {
  const tpu::testing::PodShape largest{.accelerator = "tpu7x", .topology = "16x24x24", .chips = {1}};
  Json subdomain = JobPod{.shape = largest}.json();
  subdomain["spec"]["subdomain"] = long_name();
  Json job = JobPod{.shape = largest}.json();
  job["metadata"]["labels"]["batch.kubernetes.io/job-name"] = long_name();
  Json cluster = RayPod{.accelerator = "tpu7x", .topology = "16x24x24", .chips = {1}}.json();
  cluster["metadata"]["labels"]["ray.io/cluster"] = long_name();
  Json leader = LwsPod{.worker = 1, .size = 9216}.json();
  leader["metadata"]["name"] = long_name() + "-0-1";
  leader["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/name"] = long_name();
  leader["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/leader-name"] = long_name() + "-0";
  LwsPod group{.shape = {.accelerator = "", .topology = "", .chips = std::vector<int>(8, 1)}, .size = 1152};
  group.set = std::string(57, 's');
  return {
      attack("PodWithASubdomainOfAHundredKilobytes", subdomain, "spec.subdomain: Invalid value: \"aaa"),
      attack("PodOfAJobWithANameOfAHundredKilobytes", job,
             "metadata.labels[batch.kubernetes.io/job-name]: Invalid value: \"aaa"),
      attack("PodOfARayClusterWithANameOfAHundredKilobytes", cluster,
             "metadata.labels[ray.io/cluster]: Invalid value: \"aaa"),
      attack("PodOfALeaderWithANameOfAHundredKilobytes", leader, "metadata.name: Invalid value: \"aaa"),
      attack("PodOfAGroupOfTheMostProcessesWithALongName", group.json(),
             "TPU_WORKER_HOSTNAMES of 9216 processes on 1152 hosts would have"),
  };
}

}  // namespace tpuslice::testing
