// The architecture as a test: which folder may include which (docs/architecture.md has the same arrows).
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

using testing::IsEmpty;

std::set<std::string> plus(std::set<std::string> folders, const std::set<std::string>& more) {
  folders.insert(more.begin(), more.end());
  return folders;
}

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> kSources =
      read_sources({"api", "cmd", "controllers", "fleet", "tpu", "webhook"});
  return kSources;
}

/// The folders of workload kinds: "controllers/jobset" has jobset_kind.h.
std::set<std::string> folders_of_kinds() {
  const std::regex header(R"re(^(controllers/([a-z0-9]+))/([a-z0-9]+)_kind\.h$)re");
  std::set<std::string> folders;
  for (const SourceFile& file : sources()) {
    std::smatch match;
    if (std::regex_match(file.path, match, header) && match[2] == match[3]) folders.insert(match[1]);
  }
  return folders;
}

std::map<std::string, std::set<std::string>> make_arrows() {
  const std::set<std::string> of_kind = {
      "controllers/kind", "controllers/runtime", "controllers/plan", "tpu/rules", "tpu", "api/types", "api/base"};
  const std::set<std::string> kinds = folders_of_kinds();
  const std::set<std::string> of_operator =
      plus(plus(of_kind, kinds), {"controllers/slice", "controllers/history", "controllers/placement",
                                  "controllers/drain", "fleet", "webhook", "api/client", "api/http"});
  std::map<std::string, std::set<std::string>> arrows = {
      {"api/base", {}},
      {"api/types", {"api/base"}},
      {"api/http", {"api/base"}},
      {"api/client", {"api/http", "api/types", "api/base"}},
      {"tpu", {"api/types", "api/base"}},
      {"tpu/rules", {"tpu", "api/types", "api/base"}},
      {"webhook", {"tpu/rules", "tpu", "api/client", "api/http", "api/types", "api/base"}},
      {"controllers/plan", {"tpu", "api/types", "api/base"}},
      {"controllers/runtime", {"controllers/plan", "api/client", "api/http", "api/types", "api/base"}},
      {"controllers/kind", {"controllers/runtime", "controllers/plan", "tpu/rules", "api/types", "api/base"}},
      {"controllers/ray", {"controllers/raycluster", "controllers/plan", "tpu", "api/types", "api/base"}},
      {"controllers/disaggregatedset", plus(of_kind, {"controllers/leaderworkerset"})},
      {"controllers/rayjob", plus(of_kind, {"controllers/ray", "controllers/raycluster"})},
      {"controllers/rayservice", plus(of_kind, {"controllers/ray", "controllers/raycluster"})},
      {"controllers/raycronjob", plus(of_kind, {"controllers/raycluster", "controllers/rayjob"})},
      {"controllers/slice", {"controllers/runtime", "controllers/plan", "tpu", "api/types", "api/base"}},
      {"controllers/history",
       {"controllers/slice", "controllers/runtime", "controllers/plan", "tpu", "api/types", "api/base"}},
      {"controllers/placement",
       {"controllers/slice", "controllers/runtime", "controllers/plan", "tpu", "api/types", "api/base"}},
      {"fleet", {"controllers/placement", "controllers/slice", "controllers/plan", "tpu", "api/types", "api/base"}},
      {"controllers/drain", {"controllers/runtime", "tpu", "api/client", "api/http", "api/types", "api/base"}},
      {"cmd/tpu-slice-operator", of_operator},
      {"cmd/tpu-slice-sim", plus(of_operator, {"cmd/tpu-slice-operator"})},
      {"cmd/kubectl-tpu", plus(of_operator, {"cmd/tpu-slice-operator", "cmd/tpu-slice-sim"})},
  };
  for (const std::string& kind : kinds) arrows.try_emplace(kind, of_kind);
  return arrows;
}

/// A folder and the folders it may include, itself always among them. The longest matching folder counts.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::map<std::string, std::set<std::string>> kArrows = make_arrows();
  return kArrows;
}

/// The folder of `arrows` that `path` lies in; empty for a path outside of them.
std::string folder_of(const std::string& path) {
  std::string best;
  for (const auto& [folder, allowed] : arrows()) {
    if (path.starts_with(folder + "/") && folder.size() > best.size()) best = folder;
  }
  return best;
}

const std::vector<SourceFile>& sources_and_tests() {
  static const std::vector<SourceFile> kSources =
      read_sources({"api", "cmd", "controllers", "fleet", "tpu", "webhook", "tests"});
  return kSources;
}

/// "path:line: text" of every line of `file` that matches `pattern`.
void matches(const SourceFile& file, const std::regex& pattern, std::vector<std::string>& found) {
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (std::regex_search(file.lines[i], pattern)) {
      found.push_back(file.path + ":" + std::to_string(i + 1) + ": " + file.lines[i]);
    }
  }
}

TEST(Project, HasSources) { EXPECT_GT(sources().size(), 50U) << "run from the source root"; }

TEST(Project, EveryFileLiesInAFolderOfTheArchitecture) {
  std::vector<std::string> strays;
  for (const SourceFile& file : sources()) {
    if (folder_of(file.path).empty()) strays.push_back(file.path);
  }
  EXPECT_THAT(strays, IsEmpty());
}

TEST(Project, IncludesFollowTheArrows) {
  const std::regex include(R"re(^\s*#include\s+"([^"]+)")re");
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources()) {
    const std::string from = folder_of(file.path);
    if (from.empty()) continue;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const std::string to = folder_of(match[1].str());
      if (to != from && !arrows().at(from).contains(to)) wrong.push_back(file.path + " includes " + match[1].str());
    }
  }
  EXPECT_THAT(wrong, IsEmpty());
}

/// The folder with a short name: that of "plan" is controllers/plan.
std::string folder_named(const std::string& name) {
  for (const auto& [folder, allowed] : arrows()) {
    if (folder == name || folder.ends_with("/" + name)) return folder;
  }
  return name;
}

// "| `controllers/rayjob` | the RayJob kind | ray, raycluster, and as raycluster |"
TEST(Project, ThePageHasTheSameArrows) {
  const std::regex row(R"re(\| `([a-z/-]+)` \| .* \| ([^|]+) \|)re");
  const std::regex word("[a-z]+");
  std::map<std::string, std::set<std::string>> drawn;
  const std::vector<SourceFile> page = read_files({"docs/architecture.md"}, {});
  for (const std::string& line : page.front().lines) {
    std::smatch match;
    if (!std::regex_match(line, match, row) || !arrows().contains(match[1])) continue;
    const std::string names = match[2];
    if (names.starts_with("all")) continue;
    std::set<std::string>& folders = drawn[match[1]];
    bool as = false;
    for (std::sregex_iterator name(names.begin(), names.end(), word); name != std::sregex_iterator(); ++name) {
      const std::string text = name->str();
      if (text == "as") {
        as = true;
      } else if (text != "and") {
        const std::string folder = folder_named(text);
        folders = plus(std::move(folders), as ? drawn[folder] : std::set<std::string>{folder});
      }
    }
  }
  EXPECT_GT(drawn.size(), 15U);
  for (const auto& [folder, allowed] : drawn) EXPECT_EQ(allowed, arrows().at(folder)) << folder;
}

// The head of controllers/plan/changes.h describes the parts.
TEST(Project, PlannersHaveTheSameParts) {
  std::set<std::string> paths;
  for (const SourceFile& file : sources()) paths.insert(file.path);
  for (const std::string& folder : folders_of_kinds()) {
    const std::string kind = folder.substr(folder.rfind('/') + 1);
    for (const std::string& part : {std::string("observed.h"), kind + "_state.h", std::string("decisions.h"),
                                    std::string("render.h"), kind + "_plan.h"}) {
      EXPECT_TRUE(paths.contains(folder + "/" + part)) << folder << "/" << part;
    }
  }
}

// Other files make actions, too; render alone decides the stages that they are in.
TEST(Project, OnlyRenderAddsActionsToStages) {
  const std::regex stages(R"re(\benum class \w*Step\b|\w*Step::|\bstages\b)re");
  const std::set<std::string> planners = plus(folders_of_kinds(), {"controllers/slice", "controllers/placement"});
  const std::regex render(R"re([/_]render\.cpp$)re");
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources()) {
    if (!planners.contains(folder_of(file.path)) || std::regex_search(file.path, render)) continue;
    matches(file, stages, wrong);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Project, TheHttpLibrariesStayInsideApiHttp) {
  const std::regex library(R"re(#include\s+[<"](cpprest|pplx|boost/(asio|beast)|openssl|zlib))re");
  // Hashes and base64 are the only other uses of OpenSSL, gzip files of zlib; the tests of api/http connect without its
  // classes.
  const std::regex allowed(R"re(^(api/http/|api/base/(base64|gzip|hash)\.|tests/unit/api/http/))re");
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources_and_tests()) {
    if (!std::regex_search(file.path, allowed)) matches(file, library, wrong);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Project, TheApiFoldersKnowKubernetesAndNotTpus) {
  const std::regex name_of_the_project("tpu-?slice", std::regex::icase);
  const std::regex tpu(R"re((^|[^A-Za-z])tpu|Tpu|TPU|[Cc]hip|[Ss]lice)re");
  std::vector<std::string> wrong;
  for (SourceFile file : sources()) {
    if (!file.path.starts_with("api/")) continue;
    for (std::string& line : file.lines) line = std::regex_replace(line, name_of_the_project, "");
    matches(file, tpu, wrong);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Project, ProtobufStaysInsideTheClient) {
  const std::regex protobuf("protobuf", std::regex::icase);
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources()) {
    // The simulator is a server; main.cpp says how long an object is in etcd.
    if (file.path.starts_with("api/client/") || file.path.starts_with("cmd/")) continue;
    matches(file, protobuf, wrong);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

// A test of one header includes it before all others.
TEST(Project, UnitTestsLieInTheFolderOfTheirCode) {
  const std::regex of_program(R"re(^#include "(api|cmd|controllers|fleet|tpu|webhook)/)re");
  const std::string tests = "tests/unit/";
  int seen = 0;
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources_and_tests()) {
    if (!file.path.starts_with(tests) || !file.path.ends_with("_test.cpp")) continue;
    const auto first = std::ranges::find_if(file.lines, [](const auto& line) { return line.starts_with("#include "); });
    if (first == file.lines.end() || !std::regex_search(*first, of_program)) continue;
    ++seen;
    const std::string folder = file.path.substr(tests.size(), file.path.rfind('/') + 1 - tests.size());
    if (!first->starts_with("#include \"" + folder)) wrong.push_back(file.path + ": " + *first);
  }
  EXPECT_GT(seen, 200);
  EXPECT_THAT(wrong, IsEmpty());
}

// What several layers need lies in tests/support.
TEST(Project, OnlyUnitTestsIncludeUnitTests) {
  const std::regex include(R"re(^#include "tests/unit/)re");
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources_and_tests()) {
    if (!file.path.starts_with("tests/unit/")) matches(file, include, wrong);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Project, NothingWaitsBySleeping) {
  const std::regex sleeping(R"re(\b(sleep_(for|until)|(u|nano)?sleep)\s*\()re");
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources_and_tests()) matches(file, sleeping, wrong);
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Project, OnlyTheClockReadsTheClock) {
  const std::regex read(
      R"re(\b((steady_clock|system_clock|high_resolution_clock|clock_type)::now|clock_gettime|gettimeofday)\()re");
  const std::set<std::string> readers = {
      "api/base/clock.cpp",
      "api/base/stacks.cpp",  // In a process that hangs: sem_timedwait() takes a time of that clock.
  };
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources()) {
    if (!readers.contains(file.path)) matches(file, read, wrong);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

// An Instant also counts while the machine is suspended, the clock of a condition variable does not.
TEST(Project, WaitsHaveADurationAndNotAnInstant) {
  const std::regex until(R"re(\bwait_until\()re");
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources()) {
    if (file.path != "api/base/mutex.h") matches(file, until, wrong);
  }
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(Project, AFileIsAboutOneThing) {
  std::vector<std::string> long_files;
  for (const SourceFile& file : sources()) {
    if (file.lines.size() > 400) long_files.push_back(file.path + ": " + std::to_string(file.lines.size()));
  }
  EXPECT_THAT(long_files, IsEmpty());
}

}  // namespace
}  // namespace tpuslice
