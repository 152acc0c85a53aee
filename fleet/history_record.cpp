#include "fleet/history_record.h"

#include <initializer_list>
#include <utility>

#include "api/base/strings.h"
#include "api/types/utf8.h"

namespace tpuslice::fleet {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxReason = 1024;

std::string text_of(const Json& json, std::string_view member, std::size_t max = kMaxName) {
  return clip(string_at(json, {member}), max);
}

std::optional<std::int64_t> number_of(const Json& json, std::string_view member) {
  const Json* const value = find_set(json, {member});
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

}  // namespace

Result<HistoryRecord> read_history_record(const Json& json) {
  const std::optional<Timestamp> time = parse_rfc3339(string_at(json, {"time"}));
  if (!time) return Error::invalid_argument("time: Invalid value: \"{}\": expected RFC 3339", text_of(json, "time"));
  HistoryRecord record;
  record.time = *time;
  record.namespace_name = text_of(json, "namespace");
  record.kind = text_of(json, "kind");
  record.name = text_of(json, "name");
  record.slice = text_of(json, "slice");
  record.what = text_of(json, "what");
  record.code = text_of(json, "code");
  record.why = text_of(json, "why", kMaxReason);
  record.host = number_of(json, "host");
  record.container = text_of(json, "container");
  record.exit_code = number_of(json, "exitCode");
  record.node = text_of(json, "node");
  record.pool = text_of(json, "pool");
  record.lost_host_seconds = number_of(json, "lostHostSeconds").value_or(0);
  record.back_after = number_of(json, "backAfterSeconds");
  record.back_on = text_of(json, "backOn");
  return record;
}

std::vector<HistoryRecord> read_history_lines(std::string_view text) {
  std::vector<HistoryRecord> records;
  for (const std::string& line : split(text, '\n')) {
    const Result<Json> json = parse_json(line);
    if (!json) continue;
    if (Result<HistoryRecord> record = read_history_record(*json)) records.push_back(*std::move(record));
  }
  return records;
}

Json write_history_record(const HistoryRecord& record) {
  Json json = {{"time", format_rfc3339(record.time)}};
  const std::initializer_list<std::pair<const char*, const std::string*>> texts = {
      {"namespace", &record.namespace_name},
      {"kind", &record.kind},
      {"name", &record.name},
      {"slice", &record.slice},
      {"what", &record.what},
      {"code", &record.code},
      {"why", &record.why},
      {"container", &record.container},
      {"node", &record.node},
      {"pool", &record.pool},
      {"backOn", &record.back_on}};
  for (const auto& [member, text] : texts) {
    if (!text->empty()) json[member] = *text;
  }
  if (record.host) json["host"] = *record.host;
  if (record.exit_code) json["exitCode"] = *record.exit_code;
  if (record.lost_host_seconds > 0) json["lostHostSeconds"] = record.lost_host_seconds;
  if (record.back_after) json["backAfterSeconds"] = *record.back_after;
  return json;
}

}  // namespace tpuslice::fleet
