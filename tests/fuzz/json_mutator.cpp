// Mutates JSON structurally, so that most inputs of the fuzzer pass the parser.
//
// libFuzzer calls this instead of its own mutations, which are used every fourth time and for inputs that are not JSON.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "api/types/json.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace tpuslice::fuzz {
namespace {

using Engine = std::minstd_rand;

std::size_t below(Engine& engine, std::size_t limit) { return engine() % limit; }

/// All values of the document, itself first.
void collect(Json& json, std::vector<Json*>& values) {
  values.push_back(&json);
  if (!json.is_structured()) return;
  for (Json& item : json) collect(item, values);
}

const Json& random_value(Engine& engine) {
  static const std::vector<Json> kValues = {nullptr,
                                            true,
                                            0,
                                            1,
                                            -1,
                                            4,
                                            2147483648,
                                            9223372036854775807,
                                            1.5,
                                            "",
                                            "0",
                                            "1",
                                            "3",
                                            "4",
                                            "8",
                                            "16",
                                            "-1",
                                            "04",
                                            "99999999999999999999",
                                            "0.5",
                                            "4k",
                                            "2x2",
                                            "2x4",
                                            "4x4",
                                            "16x16",
                                            "2x2x1",
                                            "2x2x2",
                                            "2x2x4",
                                            "4x4x4",
                                            "tpu-v4-podslice",
                                            "tpu-v5-lite-podslice",
                                            "tpu-v5p-slice",
                                            "tpu-v6e-slice",
                                            "tpu7x",
                                            "worker",
                                            "head",
                                            "TPU_WORKER_ID",
                                            "TPU_WORKER_HOSTNAMES",
                                            "MEGASCALE_NUM_SLICES",
                                            "a/b~c\"d",
                                            "$(TPU_NAME)",
                                            Json::array(),
                                            Json::object(),
                                            {{"name", "X"}},
                                            {{"name", "MEGASCALE_NUM_SLICES"}, {"value", "2"}}};
  return kValues[below(engine, kValues.size())];
}

std::string mutated_text(std::string text, Engine& engine) {
  const std::size_t size = text.size();
  text.resize(size + 1 + below(engine, 8));
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  return text;
}

void change_object(Json& object, Json copied, Engine& engine) {
  const auto chosen = std::next(object.begin(), static_cast<std::ptrdiff_t>(below(engine, object.size())));
  const std::string key = chosen.key();
  switch (below(engine, 3)) {
    case 0:
      object.erase(key);
      break;
    case 1: {
      Json value = std::move(*chosen);
      object.erase(key);
      object[mutated_text(key, engine)] = std::move(value);
      break;
    }
    default:
      object[key] = std::move(copied);
  }
}

void change_array(Json& array, Json copied, Engine& engine) {
  const std::size_t at = below(engine, array.size());
  const auto position = array.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(engine, 4)) {
    case 0:
      array.erase(at);
      break;
    case 1:
      array.insert(position, Json(*position));
      break;
    case 2:
      std::swap(array[at], array[below(engine, array.size())]);
      break;
    default:
      array.insert(position, std::move(copied));
  }
}

void change(Json& document, Engine& engine) {
  std::vector<Json*> values;
  collect(document, values);
  Json& value = *values[below(engine, values.size())];
  Json copied = *values[below(engine, values.size())];
  if (below(engine, 3) == 0) {
    value = below(engine, 4) == 0 ? std::move(copied) : random_value(engine);
  } else if (value.is_object() && !value.empty()) {
    change_object(value, std::move(copied), engine);
  } else if (value.is_array() && !value.empty()) {
    change_array(value, std::move(copied), engine);
  } else if (value.is_string()) {
    value = mutated_text(value.get<std::string>(), engine);
  } else if (value.is_number_integer()) {
    value = value.get<std::int64_t>() / 2 + static_cast<std::int64_t>(below(engine, 5)) - 2;
  } else {
    value = random_value(engine);
  }
}

}  // namespace
}  // namespace tpuslice::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using tpuslice::Json;
  std::minstd_rand engine(seed);
  const auto document = tpuslice::parse_json({reinterpret_cast<const char*>(data), size});
  if (!document || engine() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  Json changed = *document;
  for (std::size_t changes = 1 + engine() % 3; changes > 0; --changes) tpuslice::fuzz::change(changed, engine);
  const std::string text = changed.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
