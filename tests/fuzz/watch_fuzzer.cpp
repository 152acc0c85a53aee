// Bytes of watches and lists: any bytes give events and views, or errors with a message.
//
// The first byte selects the view, the second the size of the chunks in which the rest arrives, which is read both as
// JSON and as protobuf.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/base/check.h"
#include "api/client/list_splitter.h"
#include "api/client/protobuf_answer.h"
#include "api/client/view_fields.h"
#include "api/client/watch.h"
#include "api/types/json.h"
#include "api/types/views.h"

namespace tpuslice {
namespace {

/// A line of watches is limited by much more; a short limit is reached by the fuzzer.
constexpr std::size_t kMaxLine = 4096;

/// The texts of all whole events; nothing at one that is too long.
template <typename Splitter>
std::optional<std::vector<std::string>> split(std::string_view bytes, std::size_t chunk) {
  constexpr std::size_t kHeader = std::is_same_v<Splitter, client::FrameSplitter> ? 4 : 0;  // Its length.
  Splitter splitter(kMaxLine);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    if (const Status fed = splitter.feed(bytes.substr(at, chunk)); !fed) {
      TPUSLICE_CHECK(!fed.error().message().empty());
      return std::nullopt;
    }
    while (std::optional<std::string> text = splitter.next()) {
      TPUSLICE_CHECK(text->size() <= kMaxLine);
      texts.push_back(*std::move(text));
    }
    TPUSLICE_CHECK(splitter.pending() <= kMaxLine + kHeader);
  }
  return texts;
}

/// A view has the same key as the event, by which a deletion finds it. Of equal names in one object either may count.
template <typename View>
void decode(const std::string& object, const std::optional<client::WatchEvent>& event) {
  static const KeptKeys kKept = {"tpuslice.dev/", "jobset.sigs.k8s.io/", "tpuslice.dev/slice", "google.com/tpu"};
  const Result<View> view = View::decode(object, &kKept);
  if (!view) {
    TPUSLICE_CHECK(!view.error().message().empty());
    return;
  }
  TPUSLICE_CHECK(!view->key.name.empty());
  if (!event || !parse_json(object, {.refuse_duplicate_keys = true})) return;
  TPUSLICE_CHECK_MSG(view->key == event->key, object);
  TPUSLICE_CHECK_MSG(view->resource_version == event->resource_version, object);
}

void decode_as(char kind, const std::string& object, const std::optional<client::WatchEvent>& event) {
  switch (kind) {
    case 'p':
      return decode<PodView>(object, event);
    case 'n':
      return decode<NodeView>(object, event);
    case 'j':
      return decode<JobView>(object, event);
    case 's':
      return decode<StatefulSetView>(object, event);
    case 'v':
      return decode<ServiceView>(object, event);
    default:
      return decode<ObjectView>(object, event);
  }
}

void decode_event(char kind, const Result<client::WatchEvent>& event) {
  if (!event) {
    TPUSLICE_CHECK(!event.error().message().empty());
    return;
  }
  // The object of an error is a Status, and has no key.
  const bool is_error = event->type == client::WatchEventType::kError;
  TPUSLICE_CHECK(!is_error || event->error.has_value());
  decode_as(kind, event->object, is_error ? std::nullopt : std::optional(*event));
}

void fuzz(std::string_view input) {
  if (input.size() < 2) return;
  const char kind = input[0];
  const std::size_t chunk = 1 + static_cast<unsigned char>(input[1]);
  const std::string_view bytes = input.substr(2);

  const auto lines = split<client::LineSplitter>(bytes, chunk);
  if (lines && bytes.size() <= kMaxLine) TPUSLICE_CHECK(lines == split<client::LineSplitter>(bytes, bytes.size() + 1));
  for (const std::string& line : lines.value_or(std::vector<std::string>()))
    decode_event(kind, client::decode_watch_event(line));

  const client::protobuf::Message& fields = *client::view_fields(kind == 'n' ? kNodes : kPods);
  const char view = kind == 'n' ? 'n' : 'p';
  const auto frames = split<client::FrameSplitter>(bytes, chunk);
  if (frames && bytes.size() <= kMaxLine)
    TPUSLICE_CHECK(frames == split<client::FrameSplitter>(bytes, bytes.size() + 1));
  for (const std::string& frame : frames.value_or(std::vector<std::string>()))
    decode_event(view, client::decode_protobuf_event(frame, fields));
  if (const auto converted = client::convert_list(bytes, fields); converted.ok()) {
    for (const std::string& item : converted->items) decode_as(view, item, std::nullopt);
  }

  const Result<client::SplitList> list = client::split_list(bytes);
  if (!list) return;
  for (const std::string_view item : list->items) decode_as(kind, std::string(item), std::nullopt);
}

}  // namespace
}  // namespace tpuslice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tpuslice::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
