#include "tests/e2e/docs/page_runner.h"

#include <csignal>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Duration kPageCommandLimit = 180s;
constexpr Duration kStartLimit = 180s;
constexpr Duration kStopLimit = 60s;
constexpr std::size_t kPrinted = 3000;

bool matches(const std::string& text, const std::string& pattern) {
  return RE2::PartialMatch(text, RE2("(?m)" + pattern));
}

bool is_assignment(const std::string& command) {
  static const RE2 kAssignment(R"((export )?[A-Za-z_]+=\S*)");
  return RE2::FullMatch(command, kAssignment);
}

}  // namespace

PageRunner::PageRunner(PageRunnerOptions options) : options_(std::move(options)) {
  std::error_code problem;
  fs::create_directories(directory() + "/logs", problem);
  for (const char* folder : {"cmd", "deploy", "docs", "tests"}) {
    fs::create_directory_symlink(fs::absolute(folder), directory() + "/" + folder, problem);
    EXPECT_FALSE(problem) << directory() << ": " << problem.message();
  }
}

void PageRunner::replace(std::string pattern, std::string text) {
  replacements_.emplace_back(std::move(pattern), std::move(text));
}

void PageRunner::in_background(std::string begin, std::string ready) {
  background_.emplace_back(std::move(begin), std::move(ready));
}

void PageRunner::expect(std::string command, std::string pattern) {
  rules_.push_back({RuleKind::kPrints, std::move(command), std::move(pattern)});
}

void PageRunner::may_print_nothing(std::string command) { expect(std::move(command), ""); }

void PageRunner::before(std::string command, std::string check) {
  rules_.push_back({RuleKind::kBefore, std::move(command), std::move(check)});
}

void PageRunner::after(std::string command, std::string check) {
  rules_.push_back({RuleKind::kAfter, std::move(command), std::move(check)});
}

std::vector<std::string> PageRunner::unused() const {
  std::vector<std::string> commands;
  for (const Rule& rule : rules_) {
    if (!rule.used) commands.push_back(rule.command);
  }
  return commands;
}

std::vector<std::string> PageRunner::rules_of(const PageCommand& command, RuleKind kind) {
  std::vector<std::string> texts;
  for (Rule& rule : rules_) {
    if (rule.kind != kind || rule.command != command.text) continue;
    rule.used = true;
    texts.push_back(rule.text);
  }
  return texts;
}

void PageRunner::run_page(const std::string& page) { run_commands(commands_of_page(page)); }

void PageRunner::run_section(const std::string& page, const std::string& heading) {
  std::vector<PageCommand> commands = commands_of_page(page);
  std::erase_if(commands, [&](const PageCommand& command) { return command.heading != heading; });
  ASSERT_FALSE(commands.empty()) << page << ": " << heading;
  run_commands(commands);
}

void PageRunner::run_commands(const std::vector<PageCommand>& commands) {
  const PageCommand* last = nullptr;
  for (const PageCommand& command : commands) {
    if (last != nullptr && (last->heading != command.heading || last->block != command.block)) end_block();
    last = &command;
    if (!reason_without_test(command).empty()) continue;
    wait_for_checks(command, RuleKind::kBefore);
    run_command(command);
    wait_for_checks(command, RuleKind::kAfter);
  }
  end_block();
}

void PageRunner::end_block() {
  for (const auto& process : processes_) process->signal(SIGTERM);
  for (const auto& process : processes_) {
    EXPECT_EQ(process->wait(kStopLimit), std::optional(0))
        << read_file(process->log()).value_or("").substr(0, kPrinted);
  }
  processes_.clear();
  variables_.clear();
}

std::unique_ptr<Process> PageRunner::start(const std::string& command, const std::string& log) const {
  auto process = Process::start({.program = "/bin/bash",
                                 .args = {"-o", "pipefail", "-c", variables_ + command},
                                 .log = log,
                                 .directory = directory(),
                                 .env = options_.environment});
  EXPECT_TRUE(process.ok()) << process.error().message();
  return process ? *std::move(process) : nullptr;
}

CommandResult PageRunner::run(const std::string& command) {
  const std::string log = fmt::format("{}/logs/{}.log", directory(), logs_++);
  const auto process = start(command, log);
  if (process == nullptr) return {};
  const auto exit_code = process->wait(kPageCommandLimit);
  return {exit_code.value_or(-1), read_file(log).value_or("")};
}

std::string PageRunner::replaced(std::string text) const {
  for (const auto& [pattern, with] : replacements_) RE2::GlobalReplace(&text, pattern, with);
  return text;
}

void PageRunner::run_command(const PageCommand& command) {
  const std::string text = replaced(command.text);
  fmt::print("$ {}\n", text);
  if (is_assignment(text)) {
    variables_ += text + "\n";
    return;
  }
  for (const auto& [begin, ready] : background_) {
    if (text.starts_with(begin)) return start_in_background(text, ready);
  }
  const CommandResult result = run(text);
  EXPECT_EQ(result.exit_code, 0) << command.where() << ": " << text << "\n" << result.text.substr(0, kPrinted);
  check_output(command, result.text);
}

void PageRunner::start_in_background(const std::string& command, const std::string& ready) {
  const std::string log = fmt::format("{}/logs/{}.log", directory(), logs_++);
  auto process = start("exec " + command, log);
  ASSERT_NE(process, nullptr);
  const auto output = [&] { return read_file(log).value_or(""); };
  const bool started =
      eventually([&] { return !process->running() || matches(output(), ready); }, kStartLimit) && process->running();
  EXPECT_TRUE(started) << command << "\n" << output().substr(0, kPrinted);
  if (started) processes_.push_back(std::move(process));
}

void PageRunner::check_output(const PageCommand& command, const std::string& text) {
  if (!command.output.empty()) {
    EXPECT_EQ(trimmed(text), trimmed(replaced(command.output))) << command.where();
  }
  bool silent = command.text.find(" > ") != std::string::npos;
  for (const std::string& pattern : rules_of(command, RuleKind::kPrints)) {
    silent = silent || pattern.empty();
    EXPECT_TRUE(matches(text, pattern)) << command.where() << ": " << command.text << "\nprinted:\n"
                                        << text.substr(0, kPrinted) << "\nexpected: " << pattern;
  }
  if (silent) return;
  EXPECT_NE(text, "") << command.where() << ": " << command.text << " printed nothing";
  EXPECT_EQ(text.find("No resources found"), std::string::npos) << command.where() << ": " << command.text;
}

void PageRunner::wait_for_checks(const PageCommand& command, RuleKind kind) {
  for (const std::string& check : rules_of(command, kind)) {
    CommandResult last;
    const bool done = eventually(
        [&] {
          last = run(check);
          return last.exit_code == 0;
        },
        kStartLimit);
    EXPECT_TRUE(done) << command.where() << ": " << command.text << "\n"
                      << check << "\n"
                      << last.text.substr(0, kPrinted);
  }
}

}  // namespace tpuslice::testing
