#include "tests/laws/disaggregatedset_generator.h"

#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tpuslice::disaggregatedset {
namespace {

using leaderworkerset::kLeaderWorkerSets;

bool is_external(const Json& role) { return string_at(role, {"scaling", "mode"}) == "External"; }

bool has_external(const Json& roles) { return std::ranges::any_of(roles, is_external); }

/// A random object; null if there is none.
Json* pick(World::Objects& objects, laws::Dice& dice) {
  if (objects.empty()) return nullptr;
  return &std::next(objects.begin(), dice.below(static_cast<int>(objects.size())))->second;
}

}  // namespace

World Generator::world() {
  std::vector<RoleShape> roles = {{"prefill", 1 + below(4)}, {"decode", 1 + below(4)}};
  if (chance(20)) roles[1].external = true;
  if (chance(20)) roles.push_back({"encode", 1 + below(3)});
  Json set = a_set(roles);
  if (!roles[1].external) set["spec"]["slices"] = 1 + below(3);
  World world(std::move(set));
  for (int round = below(12); round > 0; --round) {
    const plan::Plan plan = world.plan();
    world.carry_out(plan, chance(70) ? SIZE_MAX : laws::cut(plan, *this));
    if (chance(30)) edit(world);
    if (chance(20)) disturb(world);
    if (chance(80)) advance(world);
  }
  return world;
}

void Generator::edit_roles(World& world) {
  Json& roles = world.set()["spec"]["roles"];
  const auto index = static_cast<std::size_t>(below(static_cast<int>(roles.size())));
  Json& role = roles[index];
  switch (below(4)) {
    case 0:
      for (Json& each : roles) each["spec"]["replicas"] = 1 + below(5);
      break;
    case 1:
      role["spec"]["rolloutStrategy"] = {
          {"type", "RollingUpdate"},
          {"rollingUpdateConfiguration", {{"maxSurge", below(3)}, {"maxUnavailable", 1 + below(2)}}}};
      break;
    case 2:
      if (is_external(role)) {
        role.erase("scaling");
      } else if (int_at(world.set(), {"spec", "slices"}) == 1) {
        role["scaling"] = {{"mode", "External"}};
      }
      break;
    default:
      if (roles.size() > 2) {
        roles.erase(2);
      } else {
        Json added = roles[0];
        added["name"] = "encode";
        added.erase("scaling");
        roles.push_back(added);
      }
      break;
  }
}

void Generator::edit(World& world) {
  switch (below(6)) {
    case 0:
      world.use_image(fmt::format("serve:{}", 1 + below(4)));
      return;
    case 1:
      if (!has_external(world.set()["spec"]["roles"])) world.change_set("/spec/slices", 1 + below(3));
      return;
    case 2:
      for (auto& [name, scaler] : world.scalers()) {
        if (name.starts_with("llm-")) world.scale_external(name.substr(4), 1 + below(5));
      }
      return;
    case 3:
      world.change_set("/spec/placementPolicy", {{"type", chance(50) ? "ExclusiveSlice" : ""}, {"topology", "rack"}});
      if (chance(70)) world.change_set("/spec/placementPolicy", nullptr);
      return;
    default:
      edit_roles(world);
      world.change_set("/spec/placementPolicy", nullptr);
      return;
  }
}

void Generator::disturb(World& world) {
  Json* set = pick(world.sets(), *this);
  switch (below(7)) {
    case 0:
      if (set != nullptr) (*set)["spec"]["replicas"] = below(6);
      return;
    case 1:
      if (set != nullptr) world.sets().erase(string_at(*set, {"metadata", "name"}));
      return;
    case 2:
      if (set != nullptr) (*set)["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z";
      return;
    case 3:
      if (set != nullptr) (*set)["status"]["readyReplicas"] = 0;
      return;
    case 4:
      if (Json* service = pick(world.services(), *this); service != nullptr) {
        if (chance(50)) {
          (*service)["spec"]["selector"] = {{"app", "other"}};
        } else {
          world.services().erase(string_at(*service, {"metadata", "name"}));
        }
      }
      return;
    case 5:
      if (Json* scaler = pick(world.scalers(), *this); scaler != nullptr) {
        world.scalers().erase(string_at(*scaler, {"metadata", "name"}));
      }
      return;
    default: {
      const std::string name = world.name_of("decode");
      if (world.sets().contains(name)) return;
      world.add(kLeaderWorkerSets, {{"apiVersion", kLeaderWorkerSets.api_version()},
                                    {"kind", kLeaderWorkerSets.kind},
                                    {"metadata", {{"name", name}, {"namespace", "default"}}},
                                    {"spec", Json::object()}});
      return;
    }
  }
}

void Generator::heal(World& world) {
  world.break_image({});
  world.change_set("/spec/placementPolicy", nullptr);
}

void Generator::advance(World& world) {
  if (chance(50)) {
    world.advance();
  } else {
    world.advance([this] { return chance(60); });
  }
}

}  // namespace tpuslice::disaggregatedset
