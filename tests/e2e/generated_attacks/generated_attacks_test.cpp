// Attacks that no one thought of: mutated objects and reviews, from one seed. See attack_case.h and case_generator.h.
//
//   TPUSLICE_ATTACK_SECONDS=3600   runs for so long (20)
//   TPUSLICE_ATTACK_SEED=2         with other attacks (1)
//   TPUSLICE_ATTACK=1:234          runs that attack alone; TPUSLICE_ATTACK=FILE those of a file
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "tests/e2e/generated_attacks/attack_run.h"
#include "tests/e2e/generated_attacks/case_generator.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr const char* kRegressions = "tests/e2e/generated_attacks/regressions";
/// A run ends after so many findings, unless its length is given.
constexpr std::size_t kMaxFindings = 3;
/// Generous: machines of continuous integration are slow.
constexpr double kMaxAdmissionMs = 2000;
/// Of the webhook alone. The API server itself takes longer while it is attacked.
constexpr double kMaxReviewMs = 100;

std::string setting(const char* name, const std::string& fallback) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing writes the environment
  return value == nullptr ? fallback : value;
}

/// The tests share one control plane. They end before main() does: afterwards the threads of the HTTP client cannot be
/// joined.
class SharedRun final : public ::testing::Environment {
 public:
  void TearDown() override { run_.reset(); }

  [[nodiscard]] Result<std::unique_ptr<AttackRun>>& start() {
    if (!run_) run_ = AttackRun::start();
    return *run_;
  }

 private:
  std::optional<Result<std::unique_ptr<AttackRun>>> run_;
};

SharedRun& shared_run() {
  static auto* const run = new SharedRun();  // NOLINT: GoogleTest owns it.
  return *run;
}

const auto* const kSharedRun = ::testing::AddGlobalTestEnvironment(&shared_run());

class GeneratedAttacks : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto& started = shared_run().start();
    if (!started && started.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << started.error().message();
    ASSERT_TRUE(started.ok()) << started.error().message();
    auto catalog = FieldCatalog::read(run().plane().plane().client());
    ASSERT_TRUE(catalog.ok()) << catalog.error().message();
    catalog_ = std::make_unique<FieldCatalog>(std::move(*catalog));
    seed_ = std::strtoull(setting("TPUSLICE_ATTACK_SEED", "1").c_str(), nullptr, 10);
    generator_ = std::make_unique<CaseGenerator>(*catalog_, run().seeds(), seed_);
  }

  static AttackRun& run() { return **shared_run().start(); }

  [[nodiscard]] std::vector<AttackCase> batch(std::uint64_t first) const {
    std::vector<AttackCase> attacks;
    for (std::uint64_t i = 0; i < kBatchSize; ++i) attacks.push_back(generator_->at(first + i));
    return attacks;
  }

  std::uint64_t seed_ = 0;
  std::unique_ptr<FieldCatalog> catalog_;
  std::unique_ptr<CaseGenerator> generator_;
};

std::string line_of(const std::string& name, const BatchFigures& figures) {
  return fmt::format(
      "{:40} {:6.1f} MiB {:6.2f} CPU s   review p99 {:5.1f} ms   pod p99 {:5.0f} ms   ConfigMap "
      "p99 {:5.0f} ms   {}   {}",
      name, figures.peak_mib, figures.cpu_seconds, percentile(figures.others.reviews, 0.99),
      percentile(figures.others.admissions, 0.99), percentile(figures.others.controls, 0.99), figures.answers,
      figures.problem());
}

Result<std::vector<AttackCase>> read_attacks(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  ASSIGN_OR_RETURN(const Json json, parse_json(text));
  std::vector<AttackCase> attacks;
  for (const Json& item : array_at(json, {"attacks"})) {
    auto attack = attack_from_json(item);
    if (!attack) return attack.error().within(path);
    attacks.push_back(std::move(*attack));
  }
  if (attacks.empty()) return Error::invalid_argument("{}: no attacks", path);
  return attacks;
}

void write_regression(const std::string& name, const std::string& problem, const std::vector<AttackCase>& attacks) {
  Json json = {{"description", problem}, {"attacks", Json::array()}};
  for (const AttackCase& attack : attacks) json["attacks"].push_back(to_json(attack));
  std::ofstream(fmt::format("{}/{}.json", kRegressions, name))
      << json.dump(2, ' ', true, Json::error_handler_t::replace) << "\n";
}

/// The kinds and places that attacks change: findings with the same are the same.
std::string signature_of(const std::vector<AttackCase>& attacks) {
  std::string out;
  for (const AttackCase& attack : attacks) {
    out += attack.object.substr(0, attack.object.find('/'));
    for (const Mutation& mutation : attack.mutations) out += " " + mutation.at;
  }
  return out;
}

std::vector<std::string> regressions() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kRegressions)) {
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

class Regression : public GeneratedAttacks, public ::testing::WithParamInterface<std::string> {};

TEST_P(Regression, HarmsNoOne) {
  const auto attacks = read_attacks(fmt::format("{}/{}.json", kRegressions, GetParam()));
  ASSERT_TRUE(attacks.ok()) << attacks.error().message();
  const BatchFigures figures = run().run(*attacks);
  fmt::print("{}\n", line_of(GetParam(), figures));
  EXPECT_EQ(figures.problem(), "");
}

INSTANTIATE_TEST_SUITE_P(Found, Regression, ::testing::ValuesIn(regressions()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_F(GeneratedAttacks, AreReproduced) {
  for (std::uint64_t index = 0; index < 100; ++index) {
    const AttackCase attack = generator_->at(index);
    const auto read = attack_from_json(to_json(attack));
    ASSERT_TRUE(read.ok()) << read.error().message();
    ASSERT_EQ(to_json(*read), to_json(generator_->at(index)));
  }
}

TEST_F(GeneratedAttacks, ChangeAllThatTheOperatorReads) {
  const auto& labels = catalog_->names().qualified;
  EXPECT_THAT(labels, ::testing::IsSupersetOf({"tpuslice.dev/slice", "batch.kubernetes.io/job-name",
                                               "leaderworkerset.sigs.k8s.io/size", "ray.io/cluster"}));
  for (const auto& [kind, pointer] :
       {std::pair("Pod", "/spec/subdomain"), std::pair("Pod", "/spec/containers/0/resources/limits"),
        std::pair("RayCluster", "/spec/workerGroupSpecs/0/numOfHosts"),
        std::pair("JobSet", "/spec/replicatedJobs/0/template/spec/template/spec/hostname"),
        std::pair("Job", "/spec/template/metadata/labels")}) {
    const auto& fields = catalog_->fields_of(kind);
    const auto found = std::ranges::find(fields, pointer, &Field::pointer);
    ASSERT_NE(found, fields.end()) << kind << pointer;
    EXPECT_TRUE(found->read) << kind << pointer;
  }
}

/// TPUSLICE_ATTACK: one attack by number, or those of a file.
Result<std::vector<AttackCase>> chosen_attacks(const std::string& chosen, const FieldCatalog& catalog,
                                               const SeedObjects& seeds) {
  const std::size_t colon = chosen.find(':');
  if (colon == std::string::npos) return read_attacks(chosen);
  const CaseGenerator generator(catalog, seeds, std::strtoull(chosen.c_str(), nullptr, 10));
  return std::vector{generator.at(std::strtoull(chosen.c_str() + colon + 1, nullptr, 10))};
}

TEST_F(GeneratedAttacks, HarmNoOne) {
  if (const std::string chosen = setting("TPUSLICE_ATTACK", ""); !chosen.empty()) {
    const auto attacks = chosen_attacks(chosen, *catalog_, run().seeds());
    ASSERT_TRUE(attacks.ok()) << attacks.error().message();
    for (const AttackCase& attack : *attacks) fmt::print("{}\n", description_of(attack));
    const BatchFigures figures = run().run(*attacks);
    fmt::print("{}\n", line_of(chosen, figures));
    EXPECT_EQ(figures.problem(), "");
    return;
  }
  const std::string length = setting("TPUSLICE_ATTACK_SECONDS", "");
  const RealClock clock;
  const Instant until =
      clock.now() + std::chrono::seconds(std::strtoll((length.empty() ? "20" : length).c_str(), nullptr, 10));
  std::set<std::string> found;
  for (std::uint64_t first = 0; clock.now() < until && (found.size() < kMaxFindings || !length.empty());
       first += kBatchSize) {
    const std::vector<AttackCase> attacks = batch(first);
    const BatchFigures figures = run().run(attacks);
    const std::string name = fmt::format("{}-{}", seed_, first);
    if (!length.empty() || figures.peak_mib > kMaxPeakMib / 2) fmt::print("{}\n", line_of(name, figures));
    if (figures.problem().empty()) continue;
    const std::vector<AttackCase> reduced = run().reduced(attacks);
    if (reduced.size() > 1 && !figures.certain()) continue;  // It did not happen again.
    if (!found.insert(signature_of(reduced)).second) continue;
    write_regression("found-" + name, figures.problem(), reduced);
    ADD_FAILURE() << figures.problem() << ", reduced to regressions/found-" << name
                  << ".json: " << description_of(reduced.front());
  }
  const RunTotals& totals = run().totals();
  fmt::print("seed {}, {}: {}\n", seed_, run().mechanism(), totals.to_string());
  EXPECT_LE(percentile(totals.admissions, 0.99), kMaxAdmissionMs);
  EXPECT_FALSE(totals.reviews.empty());
  if (!length.empty()) {
    EXPECT_LE(percentile(totals.reviews, 0.99), kMaxReviewMs);
  }
}

}  // namespace
}  // namespace tpuslice::testing
