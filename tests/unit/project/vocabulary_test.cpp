// Words that docs/glossary.md replaced must not come back into names, comments, messages or docs; comments begin with
// what they are about; the glossary is in order.
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "api/base/strings.h"
#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

using testing::IsEmpty;

struct BannedWord {
  std::string pattern;  ///< RE2 syntax.
  std::string instead;  ///< What to write.
};

const std::vector<BannedWord>& banned_words() {
  static const std::vector<BannedWord> kBannedWords = {
      // Names that the field has other words for.
      {R"(\blook_again)", "requeue_after"},
      {R"(\bsee_off\b)", "handle_deleting_job"},
      {R"(\bquiet_within\b)", "suspend_timeout"},
      {R"(\btell_[a-z])", "update, set, inject or describe"},
      {R"(\bnumber_member\b)", "set_member_labels"},
      {R"(\bgive_back\b)", "release"},
      {R"(\bset_ends\b|\b[Ll]eftovers?\b)", "what is deleted"},
      {R"(\bWish(es)?\b)", "node requirements"},
      {R"(\bchoosers?\b)", "pods with requirements of their own"},
      {R"(\bContest\b)", "placement request"},
      {R"(\bStanding\b)", "slice state"},
      {R"(\bTroubles\b)", "failure history"},
      {R"(\bbreakage)", "failure"},
      {R"(kMost[A-Z]|kLongest)", "kMax"},
      {R"(\bkLook\b|\bkLastWords\b|\bk[A-Z][A-Za-z]*Told\b)", "interval, time-out, or the name of the value"},
      {R"(\bkReceipt\b)", "kMetadataOnly"},
      {R"(\bStoreProbe\b|\bowner_index\b)", "AnyStore, owner_uid"},
      {R"(tpuslice\.dev/born|\bborn\b)", "created, mutated; tpuslice.dev/mutated-by"},
      {R"(\bGroupsSound\b)", "GroupsHealthy"},
      // Words with a plainer one.
      {R"(\b[Cc]omplain)", "error, message"},
      {R"(\b[Ss]hortcomings?\b|\b[Ff]laws?\b)", "error, failure"},
      {R"(\b[Tt]rouble\b)", "failure, problem"},
      {R"(\b(told|tells)\b|(Told|Tells)([A-Z]|\b))", "sent, set, says, contains"},
      {R"(([Ff]law|Born)[A-Z]|[a-z](Flaw|Born)([A-Z]|\b))", "error, failure; created"},
      {R"([Ss]lices?\b[^.]{0,40} (is|are|be|was|were) ended\b)", "preempted, torn down"},
      {R"(\b[Ss]omebody\b|\b[Nn]obody\b|\b[Ww]hoever\b)", "who it is, or the passive"},
      {R"(\b[Aa]new\b)", "again"},
      {R"(\b[Tt]wins?\b)", "duplicate"},
      {R"(\b[Ss]trangers?\b)", "an object of another owner"},
      {R"(\b[Hh]ostile\b)", "invalid, too large"},
      {R"(\b[Uu]nserved\b)", "unsupported"},
      {R"(\bleft alone\b)", "not changed"},
      {R"(\bof no use\b)", "expired, not valid"},
      {R"(\b(is|are) no (RFC|int|whole|object|index|group|number|JSON|base64|event|pod of)\b)", "is not a"},
  };
  return kBannedWords;
}

TEST(Vocabulary, BannedWordsDoNotComeBack) {
  std::vector<SourceFile> files =
      read_files({"api", "cmd", "cmake", "controllers", "deploy", "docs", "fleet", "tests", "tpu", "webhook",
                  "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"},
                 {".h", ".cpp", ".md", ".sh", ".txt", ".cmake", ".yaml"});
  std::erase_if(files, [](const SourceFile& file) {
    return file.path == "tests/unit/project/vocabulary_test.cpp" ||
           file.path.starts_with("tests/conformance/recordings/");
  });
  std::vector<std::string> texts;
  for (const SourceFile& file : files) texts.push_back(fmt::format("{}", fmt::join(file.lines, "\n")));
  std::vector<std::string> found;
  for (const BannedWord& word : banned_words()) {
    const RE2 pattern(word.pattern);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!RE2::PartialMatch(texts[i], pattern)) continue;
      for (std::size_t line = 0; line < files[i].lines.size(); ++line) {
        const std::string& text = files[i].lines[line];
        if (!RE2::PartialMatch(text, pattern)) continue;
        found.push_back(fmt::format("{}:{}: {} (write: {})", files[i].path, line + 1, text, word.instead));
      }
    }
  }
  EXPECT_THAT(found, IsEmpty());
}

/// The first line of a comment, without slashes; empty if `line` begins none. `before`: the line above it.
std::string beginning_of_comment(const std::string& line, const std::string& before) {
  static const RE2 kComment(R"(\s*//.*)");
  static const RE2 kBlock(R"(\s*///? (.*))");
  static const RE2 kBehindCode(R"(.*\S\s+(?:///<|//) (.*))");
  std::string text;
  if (RE2::FullMatch(line, kBlock, &text)) return RE2::FullMatch(before, kComment) ? std::string() : text;
  return RE2::FullMatch(line, kBehindCode, &text) ? text : std::string();
}

// "Of the previous page." leaves out what it is about: "Token of the previous page."
TEST(Vocabulary, CommentsBeginWithWhatTheyAreAbout) {
  static const RE2 kFragment(R"((Of|Likewise|Also|Since|But|And|That|Whose)\b.*)");
  static const RE2 kDocumentation(R"(.*///.*)");
  static const RE2 kFragmentOfDocumentation(R"((As|Where)\b.*)");
  std::vector<std::string> found;
  for (const SourceFile& file : read_sources({"api", "cmd", "controllers", "fleet", "tpu", "webhook"})) {
    std::string before;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const std::string text = beginning_of_comment(line, before);
      const bool documents = i == 0 || RE2::FullMatch(line, kDocumentation);
      if (RE2::FullMatch(text, kFragment) || (documents && RE2::FullMatch(text, kFragmentOfDocumentation))) {
        found.push_back(fmt::format("{}:{}: {}", file.path, i + 1, line));
      }
      before = line;
    }
  }
  EXPECT_THAT(found, IsEmpty());
}

TEST(Vocabulary, TermsAreInOrderWithinTheirTable) {
  static const RE2 kRow(R"(\| ([^|]+) \| .*)");
  std::set<std::string> all;
  std::string last;
  std::vector<std::string> wrong;
  for (const SourceFile& page : read_files({"docs/glossary.md"}, {})) {
    for (const std::string& line : page.lines) {
      std::string term;
      if (!RE2::FullMatch(line, kRow, &term) || term == "---") continue;
      term = to_lower(term);
      const bool is_header = term == "term";
      if (!is_header && (term <= last || !all.insert(term).second)) wrong.push_back(term);
      last = is_header ? std::string() : term;
    }
  }
  EXPECT_THAT(all, testing::SizeIs(testing::Gt(100U)));
  EXPECT_THAT(wrong, IsEmpty());
}

}  // namespace
}  // namespace tpuslice
