// The architecture as a test: which folder may include which (docs/architecture.md draws the same arrows).
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/project/source_tree.h"

namespace tpuslice {
namespace {

using testing::IsEmpty;

/// A folder and the folders it may include, itself always among them. The longest matching folder counts.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::map<std::string, std::set<std::string>> kArrows = {
      {"api/base", {}},
      {"api/types", {"api/base"}},
      {"api/http", {"api/base"}},
      {"api/client", {"api/http", "api/types", "api/base"}},
      {"api/sim", {"api/http", "api/types", "api/base"}},
      {"api/workloads", {"api/types", "api/base"}},
      {"tpu", {"api/workloads", "api/types", "api/base"}},
      {"webhook/rules", {"tpu", "api/workloads", "api/types", "api/base"}},
      {"webhook", {"webhook/rules", "tpu", "api/workloads", "api/client", "api/http", "api/types", "api/base"}},
      {"controllers/plan", {"api/types", "api/base"}},
      {"controllers/runtime", {"controllers/plan", "api/client", "api/http", "api/types", "api/base"}},
      {"controllers/raycluster",
       {"controllers/runtime", "controllers/plan", "webhook/rules", "tpu", "api/workloads", "api/types", "api/base"}},
      {"controllers/ray",
       {"controllers/raycluster", "controllers/plan", "tpu", "api/workloads", "api/types", "api/base"}},
      {"controllers/rayjob",
       {"controllers/ray", "controllers/raycluster", "controllers/runtime", "controllers/plan", "webhook/rules", "tpu",
        "api/workloads", "api/types", "api/base"}},
      {"controllers/rayservice",
       {"controllers/ray", "controllers/raycluster", "controllers/runtime", "controllers/plan", "webhook/rules", "tpu",
        "api/workloads", "api/types", "api/base"}},
      {"controllers/jobset",
       {"controllers/runtime", "controllers/plan", "webhook/rules", "tpu", "api/workloads", "api/types", "api/base"}},
      {"controllers/leaderworkerset",
       {"controllers/runtime", "controllers/plan", "webhook/rules", "tpu", "api/workloads", "api/types", "api/base"}},
      {"controllers/slice", {"controllers/runtime", "controllers/plan", "tpu", "api/types", "api/base"}},
      {"controllers/placement",
       {"controllers/slice", "controllers/runtime", "controllers/plan", "tpu", "api/types", "api/base"}},
      {"cmd/tpu-slice-operator",
       {"controllers/jobset", "controllers/leaderworkerset", "controllers/placement", "controllers/raycluster",
        "controllers/rayjob", "controllers/rayservice", "controllers/slice", "controllers/runtime", "controllers/plan",
        "webhook", "webhook/rules", "tpu", "api/workloads", "api/client", "api/http", "api/types", "api/base"}},
      {"cmd/tpu-slice-sim",
       {"cmd/tpu-slice-operator", "controllers/jobset", "controllers/leaderworkerset", "controllers/placement",
        "controllers/raycluster", "controllers/rayjob", "controllers/rayservice", "controllers/slice",
        "controllers/runtime", "controllers/plan", "webhook", "webhook/rules", "tpu", "api/workloads", "api/sim",
        "api/client", "api/http", "api/types", "api/base"}},
  };
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

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> kSources = read_sources({"api", "cmd", "controllers", "tpu", "webhook"});
  return kSources;
}

const std::vector<SourceFile>& sources_and_tests() {
  static const std::vector<SourceFile> kSources =
      read_sources({"api", "cmd", "controllers", "tpu", "webhook", "tests"});
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

TEST(Project, TheHttpLibrariesStayInsideApiHttp) {
  const std::regex library(R"re(#include\s+[<"](cpprest|pplx|boost/(asio|beast)|openssl|zlib))re");
  // Hashes and base64 are the only other uses of OpenSSL; the tests of api/http connect without its classes.
  const std::regex allowed(R"re(^(api/http/|api/base/(base64|hash)\.|tests/unit/api/http/))re");
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources_and_tests()) {
    if (!std::regex_search(file.path, allowed)) matches(file, library, wrong);
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
  const std::regex read(R"re((steady_clock|system_clock|high_resolution_clock)::now\()re");
  std::vector<std::string> wrong;
  for (const SourceFile& file : sources()) {
    // Transports and sockets wait in real time by nature; everything above them has a Clock.
    if (file.path != "api/base/clock.cpp" && !file.path.starts_with("api/http/")) matches(file, read, wrong);
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
