#include "controllers/placement/preemption_budget.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "api/types/view_reader.h"

namespace tpuslice::placement {
namespace {

constexpr std::size_t kMaxEntries = 128;
constexpr std::size_t kMaxShownEntry = 64;  ///< Characters.
/// Maximum time from the plan to the deletes; the lease of the leader is shorter.
constexpr Duration kTimeForDeletes = std::chrono::minutes(1);
constexpr std::string_view kSeparator = ", ";

/// "2 2026-01-01T00:01:00Z"
std::optional<std::pair<Timestamp, std::size_t>> read_entry(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::optional<int> count = parse_count(text.substr(0, space));
  const std::optional<Timestamp> when = parse_rfc3339(text.substr(space + 1));
  if (!count || !when) return std::nullopt;
  return std::pair(*when, static_cast<std::size_t>(*count));
}

}  // namespace

Result<PreemptionRecords> PreemptionRecords::decode(std::string_view json, const KeptKeys* /*keep*/) {
  PreemptionRecords records;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("ConfigMap", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value);
    if (member == "data") records.data = view::strings_of(value);
  }));
  RETURN_IF_ERROR(view::take_metadata("ConfigMap", std::move(metadata), records));
  return records;
}

PreemptionBudget::PreemptionBudget(std::size_t limit, std::string_view record, Timestamp now)
    : limit_(limit), now_(now) {
  while (!record.empty() && used_.size() < kMaxEntries && invalid_entry_.empty()) {
    const std::size_t end = record.find(kSeparator);
    const std::string_view text = record.substr(0, end);
    record = end == std::string_view::npos ? std::string_view() : record.substr(end + kSeparator.size());
    const auto entry = read_entry(text);
    if (!entry || entry->first > now + kPreemptionPeriod) {
      invalid_entry_ = fmt::format("\"{}\"", first_utf8_characters(text, kMaxShownEntry));
    } else if (now < entry->first + kPreemptionPeriod) {
      used_[entry->first] += entry->second;
    }
  }
}

std::size_t PreemptionBudget::used() const {
  std::size_t used = 0;
  for (const auto& [when, count] : used_) used += count;
  return used;
}

std::size_t PreemptionBudget::left() const { return limit_ - std::min(used(), limit_); }

std::optional<Timestamp> PreemptionBudget::when_left(std::size_t count) const {
  if (count > limit_) return std::nullopt;
  if (count <= left()) return now_;
  std::size_t used = this->used();
  for (const auto& [when, of_then] : used_) {
    used -= of_then;
    if (used + count <= limit_) return when + kPreemptionPeriod;
  }
  return now_;
}

std::string PreemptionBudget::obstacle(std::size_t victims) const {
  std::string why = blocked_;
  if (victims == 0 || (why.empty() && victims <= left())) return {};
  if (why.empty()) {
    const std::optional<Timestamp> next = when_left(victims);
    why = fmt::format("the preemption budget of {} an hour ", limit_);
    if (!next) {
      why += "is smaller";
    } else {
      why += left() == 0 ? "is used up" : fmt::format("is used up but for {}", left());
      why += "; next at " + format_rfc3339(*next);
    }
  }
  return fmt::format("{} of lower priority would be preempted for it, but {}",
                     victims == 1 ? "a slice" : fmt::format("{} slices", victims), why);
}

std::optional<Timestamp> PreemptionBudget::changes_at() const {
  if (used_.empty()) return std::nullopt;
  return used_.begin()->first + kPreemptionPeriod;
}

void PreemptionBudget::use(std::size_t count) {
  used_[std::chrono::ceil<std::chrono::minutes>(now_) + kTimeForDeletes] += count;
}

std::string PreemptionBudget::record() const {
  std::vector<std::string> entries;
  entries.reserve(used_.size());
  for (const auto& [when, count] : used_) entries.push_back(fmt::format("{} {}", count, format_rfc3339(when)));
  return fmt::format("{}", fmt::join(entries, kSeparator));
}

plan::Action create_preemption_records(const ObjectKey& key) {
  return plan::Action::create(kConfigMaps, key, [key]() -> Result<Json> {
    return Json{{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata",
                 {{"name", key.name},
                  {"namespace", key.namespace_name},
                  {"labels", {{"app.kubernetes.io/managed-by", "tpu-slice-operator"}}}}}};
  });
}

plan::Action write_preemption_record(const PreemptionRecords& records, const std::string& accelerator,
                                     const PreemptionBudget& budget, Timestamp now) {
  Json data = {{accelerator, budget.record()}};
  for (const auto& [other, record] : records.data) {
    if (other == accelerator) continue;
    const PreemptionBudget of_other(0, record, now);
    if (of_other.used() == 0 && of_other.invalid_entry().empty()) data[other] = nullptr;
  }
  return plan::Action::patch(kConfigMaps, records.key, {{"data", std::move(data)}},
                             {records.uid, records.resource_version});
}

}  // namespace tpuslice::placement
