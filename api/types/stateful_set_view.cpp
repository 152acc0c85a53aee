// StatefulSets from bytes.
#include <algorithm>

#include "api/types/view_reader.h"

namespace tpuslice {
namespace view {
namespace {

bool is_setting(std::string_view member) {
  return std::ranges::find(StatefulSetView::kSettings, member) != StatefulSetView::kSettings.end();
}

std::string_view text_as_it_is(Value value) { return simdjson::to_json_string(value).value(); }

void read_stateful_set_spec(Value value, StatefulSetView& set) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "template") {
      set.pod_template = text_as_it_is(member);
    } else if (is_setting(key)) {
      Result<Json> parsed = parse_json(text_as_it_is(member));
      if (!parsed) throw BadMember{std::string(parsed.error().message())};
      set.settings[std::string(key)] = *std::move(parsed);
    }
  });
}

void read_stateful_set_status(Value value, StatefulSetView& set) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "observedGeneration") {
      set.observed_generation = number_of(member);
    } else if (key == "replicas") {
      set.replicas_created = int32_of(member, key);
    } else if (key == "availableReplicas") {
      set.available = int32_of(member, key);
    } else if (key == "currentRevision") {
      set.current_revision = text_of(member);
    } else if (key == "updateRevision") {
      set.update_revision = text_of(member);
    }
  });
}

}  // namespace
}  // namespace view

std::int64_t StatefulSetView::replicas() const { return int_at(settings, {"replicas"}, 1); }
std::int64_t StatefulSetView::first_ordinal() const { return int_at(settings, {"ordinals", "start"}); }
std::int64_t StatefulSetView::partition() const {
  return int_at(settings, {"updateStrategy", "rollingUpdate", "partition"});
}

Result<StatefulSetView> StatefulSetView::decode(std::string_view json, const KeptKeys* /*keep*/) {
  StatefulSetView set;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("stateful set", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value);
    if (member == "spec") view::read_stateful_set_spec(value, set);
    if (member == "status") view::read_stateful_set_status(value, set);
  }));
  RETURN_IF_ERROR(view::take_metadata("stateful set", std::move(metadata), set));
  return set;
}

}  // namespace tpuslice
