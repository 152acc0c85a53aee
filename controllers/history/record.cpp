#include "controllers/history/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/types/utf8.h"

namespace tpuslice::history {
namespace {

// Bytes of texts; names are ASCII.
constexpr std::size_t kMaxLabelValue = 63;
constexpr std::size_t kMaxUid = 40;
constexpr std::size_t kMaxName = 100;
constexpr std::size_t kMaxWhy = 400;
/// Room for the sequence number, and for the recovery that is added later.
constexpr std::size_t kReserved = 140;

/// Reports of one placement whose pods are not known, within this time, are one interruption.
constexpr Duration kSameTime = std::chrono::minutes(1);

using Text = std::string Record::*;
constexpr std::array<std::pair<std::string_view, Text>, 14> kTexts = {{{"namespace", &Record::namespace_name},
                                                                       {"kind", &Record::kind},
                                                                       {"name", &Record::name},
                                                                       {"uid", &Record::uid},
                                                                       {"slice", &Record::slice},
                                                                       {"sliceKey", &Record::slice_key},
                                                                       {"placement", &Record::placement},
                                                                       {"what", &Record::what},
                                                                       {"code", &Record::code},
                                                                       {"why", &Record::why},
                                                                       {"container", &Record::container},
                                                                       {"node", &Record::node},
                                                                       {"pool", &Record::pool},
                                                                       {"accelerator", &Record::accelerator}}};

std::optional<std::int64_t> number_at(const Json& json, std::string_view member) {
  const Json* const value = find_set(json, {member});
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

std::size_t max_bytes(Text text) {
  if (text == &Record::why) return kMaxWhy;
  if (text == &Record::uid || text == &Record::placement || text == &Record::kind) return kMaxUid;
  return text == &Record::name || text == &Record::node ? kMaxName : kMaxLabelValue;
}

/// Shortens `why` until the line fits.
void fit(Record& record) {
  for (const auto& [name, text] : kTexts) record.*text = clip(std::move(record.*text), max_bytes(text));
  while (!record.why.empty() && to_json(record).dump().size() > kMaxRecordBytes - kReserved) {
    record.why = std::string(truncate_utf8(record.why, record.why.size() * 3 / 4));
  }
}

}  // namespace

bool Record::is_same(const Record& other) const {
  if (slice_key != other.slice_key || namespace_name != other.namespace_name) return false;
  if (uid != other.uid || placement != other.placement) return false;
  return !placement.empty() || (time < other.time + kSameTime && other.time < time + kSameTime);
}

bool Record::is_of(const plan::ObjectReference& workload) const {
  if (!uid.empty() && !workload.uid.empty()) return uid == workload.uid;
  return kind == workload.kind && name == workload.key.name;
}

Record record_of(const plan::Interruption& interruption) {
  Record out;
  out.time = interruption.time;
  out.namespace_name = interruption.slice.namespace_name;
  out.kind = interruption.workload.kind;
  out.name = interruption.workload.key.name;
  out.uid = interruption.workload.uid;
  out.slice = interruption.slice_name;
  out.slice_key = interruption.slice.name;
  out.placement = interruption.placement;
  out.what = interruption.what;
  out.code = interruption.code;
  out.why = interruption.why;
  if (interruption.host) out.host = *interruption.host;
  out.container = interruption.container;
  if (interruption.exit_code) out.exit_code = *interruption.exit_code;
  out.node = interruption.node;
  out.pool = interruption.pool;
  out.accelerator = interruption.accelerator;
  out.host_seconds = interruption.host_seconds;
  fit(out);
  return out;
}

Json to_json(const Record& record) {
  Json json = {{"seq", record.sequence}, {"time", format_rfc3339(record.time)}};
  for (const auto& [name, text] : kTexts) {
    if (!(record.*text).empty()) json[std::string(name)] = record.*text;
  }
  if (record.host) json["host"] = *record.host;
  if (record.exit_code) json["exitCode"] = *record.exit_code;
  if (record.host_seconds > 0) json["lostHostSeconds"] = record.host_seconds;
  if (!record.recovery) return json;
  const Duration after = std::max(record.recovery->time - record.time, Duration::zero());
  json["backAfterSeconds"] = std::chrono::duration_cast<std::chrono::seconds>(after).count();
  if (!record.recovery->pool.empty()) json["backOn"] = record.recovery->pool;
  return json;
}

std::optional<Record> parse_record(std::string_view line) {
  if (line.size() > kMaxRecordBytes) return std::nullopt;
  const Result<Json> json = parse_json(line, {.values = 64, .depth = 2});
  if (!json) return std::nullopt;
  const std::optional<Timestamp> time = parse_rfc3339(string_at(*json, {"time"}));
  const std::optional<std::int64_t> sequence = number_at(*json, "seq");
  constexpr std::int64_t kMaxSequence = std::int64_t{1} << 53;
  if (!time || !sequence || *sequence < 0 || *sequence > kMaxSequence) return std::nullopt;
  Record out;
  out.time = *time;
  out.sequence = *sequence;
  for (const auto& [name, text] : kTexts) out.*text = string_at(*json, {name});
  if (out.slice_key.empty()) return std::nullopt;
  out.host = number_at(*json, "host");
  out.exit_code = number_at(*json, "exitCode");
  out.host_seconds = std::max<std::int64_t>(number_at(*json, "lostHostSeconds").value_or(0), 0);
  if (const std::optional<std::int64_t> after = number_at(*json, "backAfterSeconds")) {
    constexpr std::int64_t kMaxSeconds = 10LL * 366 * 24 * 3600;
    out.recovery = Recovery{*time + std::chrono::seconds(std::clamp<std::int64_t>(*after, 0, kMaxSeconds)),
                            string_at(*json, {"backOn"})};
  }
  return out;
}

}  // namespace tpuslice::history
