#include "tests/laws/rayservice_generator.h"

#include <array>
#include <iterator>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

template <typename Map>
auto pick(Generator& dice, Map& map) {
  return std::next(map.begin(), dice.below(static_cast<int>(map.size())));
}

/// The service may have NewClusterWithIncrementalUpgrade.
bool has_options(World& world) {
  return find_set(world.service(), {"spec", "upgradeStrategy", "clusterUpgradeOptions"}) != nullptr;
}

}  // namespace

World Generator::world() {
  Json service = chance(50) ? a_service() : a_multi_host_service();
  if (chance(20)) service["spec"]["excludeHeadPodFromServeSvc"] = true;
  if (chance(30)) service["spec"]["rayClusterDeletionDelaySeconds"] = below(3) * 10;
  if (chance(20)) service["metadata"]["annotations"]["tpuslice.dev/upgrade-without-room"] = "replace";
  if (chance(15)) service["spec"]["rayClusterConfig"]["enableInTreeAutoscaling"] = true;
  if (chance(40)) {
    constexpr std::array kSurges{100, 50, 30};
    const int surge = kSurges.at(static_cast<std::size_t>(below(kSurges.size())));
    const Json incremental = an_incremental_service(surge, chance(50) ? surge : 20, chance(50) ? 1 : 10);
    service["spec"]["upgradeStrategy"] = incremental["spec"]["upgradeStrategy"];
    service["spec"]["rayClusterConfig"]["enableInTreeAutoscaling"] = true;
  }
  World out(std::move(service));
  const int rounds = below(has_options(out) ? 50 : 25);
  for (int round = rounds; round > 0; --round) {
    out.step();
    if (chance(10)) edit(out);
    if (chance(15)) disturb(out);
    if (chance(80)) out.advance();
  }
  return out;
}

void Generator::edit(World& world) {
  Json& spec = world.service()["spec"];
  Json& group = world.config()["workerGroupSpecs"][0];
  ++world.service()["metadata"]["generation"].get_ref<Json::number_integer_t&>();
  switch (below(10)) {
    case 0:
    case 1:
      group["template"]["spec"]["containers"][0]["image"] = fmt::format("image-{}", below(3));
      return;
    case 2:
      spec["serveConfigV2"] = a_serve_config(fmt::format("app-{}", below(3)));
      return;
    case 3:
      group["replicas"] = below(3);
      return;
    case 4: {
      Json another = group;
      another["groupName"] = fmt::format("group-{}", world.config()["workerGroupSpecs"].size());
      world.config()["workerGroupSpecs"].push_back(std::move(another));
      return;
    }
    case 5:
      spec["upgradeStrategy"]["type"] = chance(70) ? "NewCluster" : "None";
      if (has_options(world) && chance(50)) spec["upgradeStrategy"]["type"] = kIncrementalUpgrade;
      return;
    case 6:
      spec["suspend"] = chance(40);
      return;
    case 7:
      spec["serveConfigV2"] = chance(50) ? "- a" : "";
      return;
    case 8:
      world.config()["suspend"] = chance(50);
      return;
    default:
      spec["excludeHeadPodFromServeSvc"] = chance(50);
  }
}

void Generator::change_answers(World& world) {
  constexpr std::array kStatuses{200, 200, 200, 0, 401, 500};
  constexpr std::array kApplications{"RUNNING", "DEPLOYING", "UNHEALTHY", "DEPLOY_FAILED", "no such status"};
  if (world.clusters().empty()) return;
  const std::string name = pick(*this, world.clusters())->first;
  World::Ray& ray = world.ray(name);
  switch (below(5)) {
    case 0:
      ray.answer_status = kStatuses.at(static_cast<std::size_t>(below(kStatuses.size())));
      return;
    case 1:
      ray.put_status = kStatuses.at(static_cast<std::size_t>(below(kStatuses.size())));
      return;
    case 2:
      ray.statuses["app"] = kApplications.at(static_cast<std::size_t>(below(kApplications.size())));
      return;
    case 3:
      ray.config = nullptr;
      return;
    default:
      ray.proxies.clear();
      for (const auto& [pod, json] : world.pods()) {
        if (chance(30)) ray.proxies.push_back(pod);
      }
  }
}

void Generator::change_objects(World& world) {
  switch (below(6)) {
    case 0:
      if (!world.pods().empty()) world.pods().erase(pick(*this, world.pods()));
      return;
    case 1:
      if (!world.pods().empty()) {
        Json& pod = pick(*this, world.pods())->second;
        pod["status"]["conditions"][0]["status"] = chance(50) ? "False" : "True";
      }
      return;
    case 2:
      if (!world.services().empty()) world.services().erase(pick(*this, world.services()));
      return;
    case 3:
      if (!world.services().empty()) {
        Json& service = pick(*this, world.services())->second;
        service["spec"]["selector"]["ray.io/cluster"] = "another";
      }
      return;
    case 4:
      if (!world.clusters().empty() && chance(50)) world.clusters().erase(pick(*this, world.clusters()));
      return;
    default:
      if (!world.clusters().empty()) {
        Json& cluster = pick(*this, world.clusters())->second;
        cluster["metadata"]["annotations"].erase(std::string(chance(50) ? kServeConfig : kClusterHashVersion));
      }
  }
}

void Generator::change_gateways(World& world) {
  switch (below(5)) {
    case 0:
      world.serves_gateways = chance(60);
      return;
    case 1:
      world.accepts_gateways = chance(60);
      for (auto& [name, gateway] : world.gateways()) gateway.erase("status");
      return;
    case 2:
      world.gateways().clear();
      return;
    case 3:
      world.routes().clear();
      return;
    default:
      for (auto& [name, route] : world.routes()) {
        route["spec"]["rules"][0]["backendRefs"][0]["weight"] = below(101);
        if (chance(30)) route["spec"]["hostnames"] = Json::array({"another"});
      }
  }
}

void Generator::disturb(World& world) {
  if (has_options(world) && chance(25)) return change_gateways(world);
  switch (below(6)) {
    case 0:
      world.restart_operator();
      return;
    case 1:
      world.places_slices = chance(60);
      return;
    case 2:
      if (chance(20)) world.service().erase("status");
      return;
    case 3:
      return change_objects(world);
    default:
      return change_answers(world);
  }
}

void Generator::heal(World& world) {
  Json& spec = world.service()["spec"];
  spec["suspend"] = false;
  world.config().erase("suspend");
  spec["upgradeStrategy"]["type"] = has_options(world) && chance(75) ? std::string(kIncrementalUpgrade) : "NewCluster";
  spec["serveConfigV2"] = a_serve_config("app");
  for (Json& group : world.config()["workerGroupSpecs"]) group["replicas"] = 1;
  spec["excludeHeadPodFromServeSvc"] = false;
  world.places_slices = true;
  world.serves_gateways = true;
  world.accepts_gateways = true;
  for (auto& [name, pod] : world.pods()) pod["status"]["conditions"][0]["status"] = "True";
  world.heal_ray();
}

}  // namespace tpuslice::rayservice
