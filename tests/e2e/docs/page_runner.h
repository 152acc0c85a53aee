// PageRunner: runs the commands of pages as they stand there.
//
//   PageRunner pages({.directory = dir, .environment = {{"KUBECONFIG", kubeconfig}}});
//   pages.replace("localhost:8081", "127.0.0.1:" + port);
//   pages.expect("curl -s localhost:8081/readyz", "^ok$");
//   pages.run_page("docs/observability.md");
//
// Each command must exit with 0 and print something; "No resources found" is a failure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/page_commands.h"
#include "tests/support/process.h"

namespace tpuslice::testing {

struct CommandResult {
  int exit_code = -1;
  std::string text;  ///< stdout and stderr.
};

struct PageRunnerOptions {
  /// For the files that commands write; created. It has links to the folders of the source tree.
  std::string directory;
  std::vector<std::pair<std::string, std::string>> environment = {};
};

class PageRunner {
 public:
  explicit PageRunner(PageRunnerOptions options);

  /// What matches `pattern` (RE2) in a command is replaced before it is run, in the order of these calls; likewise in
  /// the output that the page has of it, which is compared.
  void replace(std::string pattern, std::string text);
  /// Commands that begin with this, after replacement, run until the end of their block. The next command is run once
  /// `ready` (RE2) matches their output.
  void in_background(std::string begin, std::string ready);

  // Of a command, as on the page:

  /// It prints what matches `pattern` (RE2; '^' and '$' match at lines).
  void expect(std::string command, std::string pattern);
  void may_print_nothing(std::string command);
  /// Before or after it, `check`, a shell command of the test, is repeated until it succeeds.
  void before(std::string command, std::string check);
  void after(std::string command, std::string check);
  /// Commands in the calls of these four functions that were not run.
  [[nodiscard]] std::vector<std::string> unused() const;

  /// The commands of a page, or of a section of it, that tests can run. After a failure the others are run, too.
  void run_page(const std::string& page);
  void run_section(const std::string& page, const std::string& heading);
  /// A command of the test, in the same directory and environment.
  CommandResult run(const std::string& command);
  [[nodiscard]] const std::string& directory() const { return options_.directory; }

 private:
  enum class RuleKind : std::uint8_t { kPrints, kBefore, kAfter };
  struct Rule {
    RuleKind kind;
    std::string command;
    std::string text;  ///< Pattern or check.
    bool used = false;
  };

  void run_commands(const std::vector<PageCommand>& commands);
  [[nodiscard]] std::string replaced(std::string text) const;
  void run_command(const PageCommand& command);
  void start_in_background(const std::string& command, const std::string& ready);
  void check_output(const PageCommand& command, const std::string& text);
  void wait_for_checks(const PageCommand& command, RuleKind kind);
  /// The rules of the command, which are then used.
  [[nodiscard]] std::vector<std::string> rules_of(const PageCommand& command, RuleKind kind);
  /// Ends what runs in the background, and forgets variables.
  void end_block();
  [[nodiscard]] std::unique_ptr<Process> start(const std::string& command, const std::string& log) const;

  const PageRunnerOptions options_;
  std::vector<std::pair<std::string, std::string>> replacements_;
  std::vector<std::pair<std::string, std::string>> background_;
  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::string variables_;  ///< Assignments of this block.
  int logs_ = 0;
};

}  // namespace tpuslice::testing
