#include "cmd/tpu-slice-sim/resources/conversion.h"

#include <array>

namespace tpuslice::sim {
namespace {

constexpr std::string_view kEventsGroup = "events.k8s.io";

struct Rename {
  const char* core;
  const char* events;
};

/// Fields of an Event that have a different name in events.k8s.io/v1.
constexpr std::array kEventFields = {
    Rename{"involvedObject", "regarding"},
    Rename{"message", "note"},
    Rename{"reportingComponent", "reportingController"},
    Rename{"source", "deprecatedSource"},
    Rename{"firstTimestamp", "deprecatedFirstTimestamp"},
    Rename{"lastTimestamp", "deprecatedLastTimestamp"},
    Rename{"count", "deprecatedCount"},
};

void move_field(Json& object, const char* from, const char* to) {
  const auto found = object.find(from);
  if (found == object.end()) return;
  Json value = std::move(*found);
  object.erase(found);
  object[to] = std::move(value);
}

}  // namespace

std::string storage_id(const Resource& resource) {
  return resource.group == kEventsGroup ? resource.plural : resource.id();
}

JsonPtr to_served(const Resource& resource, const JsonPtr& stored) {
  if (!stored) return stored;
  const std::string wanted = resource.api_version();
  if (string_at(*stored, {"apiVersion"}) == wanted) return stored;
  Json served = *stored;
  served["apiVersion"] = wanted;
  if (resource.group == kEventsGroup) {
    for (const Rename& field : kEventFields) move_field(served, field.core, field.events);
  }
  return std::make_shared<const Json>(std::move(served));
}

ObjectKey key_of(const Json& object) {
  return {string_at(object, {"metadata", "namespace"}), string_at(object, {"metadata", "name"})};
}

Json to_stored(const Resource& resource, Json served) {
  if (resource.group != kEventsGroup) return served;
  served["apiVersion"] = "v1";
  for (const Rename& field : kEventFields) move_field(served, field.events, field.core);
  return served;
}

}  // namespace tpuslice::sim
