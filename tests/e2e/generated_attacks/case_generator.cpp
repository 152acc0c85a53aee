#include "tests/e2e/generated_attacks/case_generator.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tpu/catalog.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

/// The API server takes requests of 3 MiB.
constexpr std::size_t kMaxBody = (3U << 20U) - 16'384;
/// The webhook takes 7 MiB.
constexpr std::size_t kMaxReview = (7U << 20U) + 100'000;
/// What the objects of one attack take in etcd, and of every sixteenth.
constexpr std::size_t kMaxStored = 4U << 20U;
constexpr std::size_t kMaxStoredSometimes = 24U << 20U;
/// etcd takes objects of 1.5 MiB.
constexpr std::size_t kMaxObject = 1'500'000;

constexpr std::array<std::int64_t, 11> kLengths = {63,     64,      253,     254,       1024,     16'384,
                                                   32'768, 100'000, 262'000, 1'000'000, 2'900'000};
constexpr std::array<std::int64_t, 4> kCounts = {100, 1000, 10'000, 60'000};
constexpr std::array<std::int64_t, 5> kDepths = {100, 1000, 9'000, 100'000, 1'000'000};
constexpr std::array<std::string_view, 18> kUnits = {"a",  "a",  "a",  "9",  ".",  "-",  ",",  "<",      "\x01",
                                                     "\"", "\\", "a.", "a,", "x/", "1x", "\n", "\u00e9", "\U0001F600"};
constexpr std::array<std::string_view, 20> kOddTexts = {"",
                                                        "0",
                                                        "-1",
                                                        "1",
                                                        "2147483647",
                                                        "2147483648",
                                                        "9223372036854775807",
                                                        "99999999999999999999",
                                                        "1e9",
                                                        "0x10",
                                                        "NaN",
                                                        "null",
                                                        "true",
                                                        "off",
                                                        "*",
                                                        "../..",
                                                        "{{x}}",
                                                        "a=b,c in (d)",
                                                        "%s%n",
                                                        "[]"};
constexpr std::array<std::string_view, 9> kOddTopologies = {
    "16x24x24",    "9216x1x1", "2147483647x2147483647x2147483647", "1000000x1000000", "0x0", "-1x4", "4x",
    "256x256x256", "3x3x3"};
constexpr std::array<std::string_view, 6> kRaw = {"arrays", "objects", "digits", "duplicates", "bytes", "nul"};

const Json& odd_numbers() {
  static const auto* const kNumbers =
      new Json{0,     -1,  1,      1'000'000, 9216, 10'000, 2147483647, -2147483648, 2147483648, 9223372036854775807,
               1e300, 0.5, "1e18", "1000000m"};
  return *kNumbers;
}

const Json& odd_values() {
  static const auto* const kValues =
      new Json{nullptr, true, 7, "text", Json::array(), Json::object(), Json::array({nullptr}), {{"a", nullptr}}};
  return *kValues;
}

std::string escape_key(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

/// Places of a seed object.
struct Places {
  std::vector<std::string> metadata;
  std::vector<std::string> pod_specs;
  std::vector<std::string> leaves;
};

void collect(const Json& json, const std::string& pointer, Places& places) {
  if (json.is_object() && json.contains("containers")) places.pod_specs.push_back(pointer);
  if (!json.is_structured() || json.empty()) return places.leaves.push_back(pointer);
  for (const auto& [key, member] : json.items()) {
    const std::string below = pointer + "/" + escape_key(key);
    if (key == "metadata") places.metadata.push_back(below);
    collect(member, below, places);
  }
}

/// The random choices of one attack.
class Draw {
 public:
  Draw(const FieldCatalog& catalog, const SeedObjects& seeds, std::uint64_t seed, std::uint64_t index)
      : catalog_(catalog),
        seeds_(seeds),
        state_(seed * 0x9e3779b97f4a7c15ULL + index * 0xd1342543de82ef95ULL),
        batch_(index / kBatchSize),
        often_(index % 16 != 0) {}

  AttackCase attack() {
    AttackCase attack;
    attack.send = choose_send();
    const SeedObject& seed = choose_object(attack.send);
    attack.object = seed.name;
    collect(seed.json, {}, places_);
    const std::uint64_t mutations = below(20);
    const int count = mutations < 5 ? 1 : mutations < 17 ? 2 : 3;
    for (int i = 0; i < count; ++i) attack.mutations.push_back(mutation(seed, attack.send));
    size(attack, seed.json);
    return attack;
  }

 private:
  /// Sebastiano Vigna's splitmix64: the same numbers with every standard library.
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <typename List>
  decltype(auto) any_of(const List& list) {
    return list[below(list.size())];
  }

  Send choose_send() {
    switch (batch_ % 8) {
      case 3:
        return one_in(4) ? Send::kUpdateReview : Send::kReview;
      case 5:
      case 7:
        return Send::kCreate;
      case 6:
        return std::array{Send::kUpdate, Send::kPatch, Send::kStatus}[below(3)];
      default:
        return Send::kDryRun;
    }
  }

  const SeedObject& choose_object(Send send) {
    const bool is_store =
        send == Send::kCreate || send == Send::kUpdate || send == Send::kPatch || send == Send::kStatus;
    const bool only_idle = is_store && !(batch_ % 8 == 7 && one_in(3));
    const bool pod = !is_store && one_in(2);
    std::vector<const SeedObject*> suitable;
    for (const SeedObject& seed : seeds_.all()) {
      const bool own = seed.type.group.find('.') != std::string::npos;
      const bool is_pod = seed.type.kind == "Pod";
      const bool fits = is_store ? (!only_idle || seed.name.starts_with("idle-")) && (send != Send::kStatus || own)
                                 : (is_pod || own) && is_pod == pod;
      if (fits) suitable.push_back(&seed);
    }
    return *any_of(suitable);
  }

  Mutation mutation(const SeedObject& seed, Send send) {
    const std::uint64_t kind = below(100);
    if (send == Send::kStatus)
      return of_field(seed, [](const Field& field) { return field.pointer.starts_with("/status"); });
    if (kind < 30) return of_constant();
    if (kind < 38 && !places_.pod_specs.empty()) return of_topology();
    if (kind < 70)
      return of_field(seed, [](const Field& field) { return field.read && !field.pointer.starts_with("/status"); });
    if (kind < 82) return of_field(seed, [](const Field&) { return true; });
    if (kind < 96) return at_leaf(seed.json);
    return raw(any_of(places_.leaves));
  }

  Mutation of_constant() {
    const SourceNames& names = catalog_.names();
    const std::uint64_t place = places_.pod_specs.empty() ? below(2) : below(5);
    if (place < 2) {
      const std::string_view map = place == 0 ? "labels" : "annotations";
      return text_at(fmt::format("{}/{}/{}", any_of(places_.metadata), map, escape_key(any_of(names.qualified))));
    }
    const std::string& pods = any_of(places_.pod_specs);
    if (place == 2) return text_at(fmt::format("{}/nodeSelector/{}", pods, escape_key(any_of(names.qualified))));
    if (place == 3) {
      Mutation text = text_at(pods + "/containers/0/env/-");
      if (text.make == Make::kText) {  // A value is needed: a text cannot stand in an item.
        const auto length = static_cast<std::size_t>(std::min<std::int64_t>(text.times, 4096));
        text.of = Json(std::string(length, 'a'));
        text.make = Make::kValue;
        text.times = 1;
      }
      text.of = {{"name", any_of(names.variables)}, {"value", text.of}};
      return text;
    }
    return {.at = pods + "/schedulingGates/-", .of = {{"name", any_of(names.qualified)}}};
  }

  Mutation of_topology() {
    const std::string at = any_of(places_.pod_specs) + "/nodeSelector";
    const auto& accelerator = any_of(tpu::accelerators());
    std::string topology(any_of(kOddTopologies));
    if (!one_in(3)) topology = tpu::legal_topologies(accelerator).back().to_string();
    return {.at = at,
            .of = {{std::string(tpu::kAcceleratorLabel), std::string(accelerator.label)},
                   {std::string(tpu::kTopologyLabel), topology}}};
  }

  template <typename Fits>
  Mutation of_field(const SeedObject& seed, const Fits& fits) {
    std::vector<const Field*> fields;
    for (const Field& field : catalog_.fields_of(seed.type.kind)) {
      if (fits(field)) fields.push_back(&field);
    }
    if (fields.empty()) return at_leaf(seed.json);
    const Field& field = *any_of(fields);
    if (one_in(12)) return raw(field.pointer);
    if (one_in(12)) return {.at = field.pointer, .of = any_of(odd_values())};
    return of_type(field.pointer, field.type);
  }

  Mutation of_type(const std::string& at, FieldType type) {
    switch (type) {
      case FieldType::kString:
        return text_at(at);
      case FieldType::kNumber:
        return {.at = at, .of = any_of(odd_numbers())};
      case FieldType::kList:
        return {.at = at, .make = Make::kList, .times = any_of(kCounts)};
      case FieldType::kMap:
        return {.at = at, .make = Make::kMap, .of = one_in(3) ? std::string(60, 'v') : "v", .times = any_of(kCounts)};
      case FieldType::kBoolean:
      case FieldType::kObject:
        break;
    }
    return {.at = at, .of = any_of(odd_values())};
  }

  Mutation text_at(const std::string& at) {
    if (one_in(3)) return {.at = at, .of = std::string(any_of(kOddTexts))};
    return {.at = at, .make = Make::kText, .of = std::string(any_of(kUnits)), .times = any_of(kLengths)};
  }

  /// A value of the seed object, as its own type, or the list that it is in.
  Mutation at_leaf(const Json& json) {
    const std::string& at = any_of(places_.leaves);
    const Json& leaf = json.at(Json::json_pointer(at));
    const std::string above = at.substr(0, at.rfind('/'));
    if (one_in(3) && json.at(Json::json_pointer(above)).is_array()) return of_type(above, FieldType::kList);
    if (leaf.is_number()) return of_type(at, FieldType::kNumber);
    return text_at(at);
  }

  Mutation raw(const std::string& at) {
    return {.at = at, .make = Make::kRaw, .of = std::string(any_of(kRaw)), .times = any_of(kDepths)};
  }

  /// Chooses how many, and shortens what is longer than the API server takes.
  void size(AttackCase& attack, const Json& seed) {
    const bool review = attack.send == Send::kReview || attack.send == Send::kUpdateReview;
    const bool is_store = !review && attack.send != Send::kDryRun;
    shrink_to(review ? kMaxReview : is_store ? kMaxObject : kMaxBody, seed, attack.mutations);
    if (review) {
      constexpr std::array kChoices = {Reading::kWhole,  Reading::kWhole,  Reading::kWhole, Reading::kNothing,
                                       Reading::kSlowly, Reading::kLeaves, Reading::kHalf};
      attack.reading = any_of(kChoices);
      attack.copies = std::array{1, 8, 64}[below(3)];
      attack.namespaces = attack.copies == 1 ? 1 : std::array{1, 8}[below(2)];
      return;
    }
    if (!is_store) {
      attack.copies = one_in(4) ? 8 : 1;
      return;
    }
    attack.namespaces = one_in(3) ? 3 : 1;
    const std::size_t limit = often_ ? kMaxStored : kMaxStoredSometimes;
    const std::size_t each = mutated(seed, attack.mutations).size() + 2048;
    const auto fits = static_cast<int>(limit / each) / attack.namespaces;
    attack.copies = std::clamp(fits, 1, attack.send == Send::kCreate ? std::array{1, 20, 200}[below(3)] : 4);
  }

  const FieldCatalog& catalog_;
  const SeedObjects& seeds_;
  std::uint64_t state_;
  const std::uint64_t batch_;
  const bool often_;
  Places places_;
};

}  // namespace

AttackCase CaseGenerator::at(std::uint64_t index) const { return Draw(catalog_, seeds_, seed_, index).attack(); }

}  // namespace tpuslice::testing
