// What one review costs at most, whatever its texts. This file replaces operator new of the program, which counts the
// bytes that a test allocates.
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "tests/support/admission.h"
#include "tests/support/pods.h"
#include "tests/support/reviews.h"
#include "tests/unit/tpu/rules/jobsets.h"
#include "tpu/rules/env_budget.h"
#include "tpu/rules/workload_kinds.h"
#include "webhook/admission_handler.h"

namespace {

thread_local std::size_t allocated_bytes = 0;
thread_local std::int64_t used_bytes = 0;  // Allocated and not freed.
thread_local std::int64_t peak_bytes = 0;  // The most of those.

void free_memory(void* memory) {
  used_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);  // NOLINT: this is operator delete
}

}  // namespace

void* operator new(std::size_t size) {
  allocated_bytes += size;
  void* memory = std::malloc(size == 0 ? 1 : size);  // NOLINT: this is operator new
  if (memory == nullptr) throw std::bad_alloc();
  used_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  peak_bytes = std::max(peak_bytes, used_bytes);
  return memory;
}
/// Without it, AddressSanitizer's would be called, whose memory our delete must not free.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { free_memory(memory); }
void operator delete(void* memory, std::size_t) noexcept { free_memory(memory); }

namespace tpuslice::webhook {
namespace {

using tpu::testing::JobPod;
using tpu::testing::kLargestSlice;
using tpu::testing::LwsPod;
using tpu::testing::RayPod;
using tpu::testing::StatefulSetPod;

const std::string kLwsPrefix = "leaderworkerset.sigs.k8s.io/";

// Bytes that a review allocates, all its copies together: those of its own text, in JSON, and of the environment.
constexpr std::size_t kPerByte = 40;
constexpr std::size_t kFixed = 256U << 10U;
constexpr std::size_t kPerAddedByte = 40;

std::string long_text() { return std::string(100'000, 'a'); }  // NOLINT(modernize-return-braced-init-list)

struct Answer {
  std::size_t review = 0;     ///< Bytes.
  std::size_t allocated = 0;  ///< While it was answered, all together.
  std::int64_t peak = 0;      ///< At a time.
  std::size_t response = 0;
  bool allowed = false;
  int code = 0;
  std::string message;
  std::string patch;
};

Answer answer_to(const http::Request& request, const rules::MutationOptions& options) {
  const std::size_t before = allocated_bytes;
  const std::int64_t used_before = used_bytes;
  peak_bytes = used_bytes;
  const http::Response response = handle_admission(request, options);
  Answer answer;
  answer.allocated = allocated_bytes - before;
  answer.peak = peak_bytes - used_before;
  answer.review = request.body.size();
  answer.response = response.body.size();
  const Json body = Json::parse(response.body)["response"];
  answer.allowed = bool_at(body, {"allowed"});
  answer.code = static_cast<int>(int_at(body, {"status", "code"}));
  answer.message = string_at(body, {"status", "message"});
  answer.patch = decode_base64(string_at(body, {"patch"})).value_or("");
  return answer;
}

Answer review(const Json& pod,
              const rules::MutationOptions& options = with_kinds({.gate = true, .served_kinds = {"LeaderWorkerSet"}})) {
  return answer_to(testing::post("/mutate-v1-pod", testing::review_of(pod, "", "Pod")), options);
}

/// Of a workload. `old` is the stored object on an update.
Answer validate(const Json& object, const Json& old = nullptr) {
  const auto kind = std::ranges::find(admission_kinds(), string_at(object, {"kind"}), &rules::WorkloadKind::kind);
  const Json asked = testing::review_of(object, std::string((*kind)->group), std::string((*kind)->kind),
                                        old.is_null() ? "CREATE" : "UPDATE", old);
  return answer_to(testing::post(std::string((*kind)->path), asked), with_kinds());
}

struct LongText {
  std::string name;
  Json pod;
  std::string field;
};
void PrintTo(const LongText& text, std::ostream* out) { *out << text.name; }

Json changed(Json pod, const std::string& pointer, const std::string& value) {
  pod[Json::json_pointer(pointer)] = value;
  return pod;
}

std::string label_pointer(const std::string& label) {
  std::string pointer = label;
  pointer.replace(pointer.find('/'), 1, "~1");
  return "/metadata/labels/" + pointer;
}

std::vector<LongText> long_texts() {
  const Json job = JobPod{.shape = kLargestSlice}.json();
  const JobPod of_job_set{.shape = kLargestSlice, .job_set = "js", .replicated_job = "w"};
  const Json ray = RayPod{.accelerator = "tpu7x", .topology = "16x24x24", .chips = {1}}.json();
  const Json worker = LwsPod{.worker = 1}.json();
  Json named_leader = LwsPod{.worker = 1, .size = 9216}.json();
  named_leader["metadata"]["annotations"][kLwsPrefix + "leader-name"] = long_text() + "-0";
  named_leader["metadata"]["name"] = long_text() + "-0-1";
  named_leader["metadata"]["labels"][kLwsPrefix + "name"] = long_text();
  Json named_group = LwsPod{.size = 9216}.json();
  named_group["metadata"]["name"] = long_text() + "-0";
  named_group["metadata"]["labels"][kLwsPrefix + "name"] = long_text();
  const std::string zeros(100'000, '0');
  Json set = StatefulSetPod{.shape = kLargestSlice}.json();
  set["metadata"]["ownerReferences"][0]["name"] = long_text();
  return {
      {"SubdomainOfAJob", changed(job, "/spec/subdomain", long_text()), "spec.subdomain"},
      {"NameOfAJob", changed(job, label_pointer("batch.kubernetes.io/job-name"), long_text()),
       "metadata.labels[batch.kubernetes.io/job-name]"},
      {"NameOfAJobSet", changed(of_job_set.json(), label_pointer("jobset.sigs.k8s.io/jobset-name"), long_text()),
       "metadata.labels[jobset.sigs.k8s.io/jobset-name]"},
      {"NameOfAReplicatedJob",
       changed(of_job_set.json(), label_pointer("jobset.sigs.k8s.io/replicatedjob-name"), long_text()),
       "metadata.labels[jobset.sigs.k8s.io/replicatedjob-name]"},
      {"NameOfAStatefulSet", set, "metadata.ownerReferences[controller].name"},
      {"NameOfARayCluster", changed(ray, label_pointer("ray.io/cluster"), long_text()),
       "metadata.labels[ray.io/cluster]"},
      {"NameOfAWorkerGroup", changed(ray, label_pointer("ray.io/group"), long_text()), "metadata.labels[ray.io/group]"},
      {"NameOfALeader", named_leader, "metadata.name"},
      {"NameOfALeaderPod", named_group, "metadata.name"},
      {"NumberOfAWorker", changed(worker, "/metadata/name", "lws-0-" + zeros + "1"), "metadata.name"},
      {"SubdomainOfAGroup", changed(LwsPod{.size = 9216}.json(), "/spec/subdomain", long_text()), "spec.subdomain"},
      {"NamespaceOfAGroup", changed(LwsPod{}.json(), "/metadata/namespace", long_text()), "metadata.namespace"},
  };
}

class LongTexts : public ::testing::TestWithParam<LongText> {};

TEST_P(LongTexts, AreRefusedBeforeTheyAreMultiplied) {
  const Answer answer = review(GetParam().pod);
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 422);
  EXPECT_THAT(answer.message, ::testing::StartsWith(GetParam().field + ": Invalid value: \""));
  EXPECT_THAT(answer.message, ::testing::EndsWith("...\": must be no more than 63 bytes"));
  EXPECT_LT(answer.response, 1024U) << "the text is not repeated in the answer";
  EXPECT_LT(answer.allocated, kPerByte * answer.review + kFixed);
}

INSTANTIATE_TEST_SUITE_P(Fields, LongTexts, ::testing::ValuesIn(long_texts()),
                         [](const auto& test) { return test.param.name; });

/// Names as long as Kubernetes has them.
std::string longest(const std::string& start) { return start + std::string(57 - start.size(), 'n'); }

TEST(MutationBounds, RefuseListsOfTheLargestSliceWithTheLongestNames) {
  const Answer answer = review(JobPod{.shape = kLargestSlice, .job = longest("j"), .subdomain = longest("s")}.json());
  // Hosts 0 to 9215: "<57>-<digits>.<57>", with commas between them.
  const std::size_t bytes = 9216 * (57 + 1 + 1 + 57) + (10 + 90 * 2 + 900 * 3 + 8216 * 4) + 9215;
  EXPECT_EQ(answer.message,
            "spec.containers: Too long: TPU_WORKER_HOSTNAMES of 9216 hosts would have " + std::to_string(bytes) +
                " bytes in a container; admission adds no more than 1048576 bytes of environment to a pod: use fewer "
                "containers, or shorter names of the workload and its service");
  EXPECT_EQ(answer.code, 422);
  EXPECT_LT(answer.allocated, kPerByte * answer.review + kFixed);
}

TEST(MutationBounds, RefuseListsOfTheLargestGroupInEightContainers) {
  // Without a node selector, the size of the group is the number of hosts.
  LwsPod pod{.shape = {.accelerator = "", .topology = "", .chips = std::vector<int>(8, 1)}, .size = 1152};
  pod.set = longest("serve");
  const Answer answer = review(pod.json());
  EXPECT_THAT(answer.message,
              ::testing::MatchesRegex("spec.containers: Too long: TPU_WORKER_HOSTNAMES of 9216 processes on 1152 hosts "
                                      "would have [0-9]+ bytes in each of 8 containers; .*"));
  EXPECT_LT(answer.allocated, kPerByte * answer.review + kFixed);
}

TEST(MutationBounds, RefuseListsOfInitContainers) {
  LwsPod pod{.shape = {.accelerator = "", .topology = "", .chips = {}}, .size = 9216};
  pod.set = longest("serve");
  Json json = pod.json();
  const Json container = tpu::testing::containers_of({.chips = {4}})[0];
  json["spec"]["initContainers"] = Json(8, container);
  EXPECT_THAT(review(json).message, ::testing::StartsWith("spec.initContainers: Too long: TPU_WORKER_HOSTNAMES of 9216 "
                                                          "hosts would have "));
}

TEST(MutationBounds, RefuseAVariableInEachOfManyContainers) {
  Json pod = LwsPod{.shape = {.chips = {0}}}.json();
  pod["spec"]["containers"] = Json(60'000, Json::object());
  const Answer answer = review(pod);
  EXPECT_THAT(answer.message,
              ::testing::MatchesRegex("spec.containers: Too long: LWS_LEADER_ADDRESS, LWS_GROUP_SIZE and "
                                      "LWS_WORKER_INDEX would have [0-9]+ bytes in each of 60000 containers; .*"));
  EXPECT_EQ(answer.code, 422);
}

TEST(MutationBounds, AddTheListsOfTheLargestSliceWithOrdinaryNames) {
  const Answer answer = review(JobPod{.shape = kLargestSlice, .job = "llama-workers-0", .subdomain = "llama"}.json());
  ASSERT_TRUE(answer.allowed) << answer.message;
  EXPECT_GT(answer.patch.size(), 9216U * 20);
  EXPECT_LT(answer.patch.size(), static_cast<std::size_t>(rules::kMaxAddedEnv) + answer.review);
  EXPECT_LT(answer.allocated, kPerByte * answer.review + kPerAddedByte * static_cast<std::size_t>(rules::kMaxAddedEnv));
}

TEST(MutationBounds, AddNoMoreThanTheBudgetToAnyPod) {
  for (const int hosts : {1, 64, 1152, 2304, 4608, 9216}) {
    for (const std::size_t containers : {1U, 2U, 4U, 8U}) {
      for (const std::size_t length : {8U, 30U, 57U}) {
        LwsPod pod{.shape = {.accelerator = "", .topology = "", .chips = std::vector<int>(containers, 1)},
                   .size = hosts};
        pod.set = std::string(length, 's');
        const Answer answer = review(pod.json());
        if (answer.allowed) {
          EXPECT_LT(answer.patch.size(), static_cast<std::size_t>(rules::kMaxAddedEnv) + answer.review + 8192);
        }
        EXPECT_LT(answer.allocated,
                  kPerByte * answer.review + kFixed + kPerAddedByte * static_cast<std::size_t>(rules::kMaxAddedEnv));
      }
    }
  }
}

TEST(MutationBounds, IgnoreANumberOfChipsThatNoNodeHas) {
  Json pod = tpu::testing::pod_of({.accelerator = "tpu-v5-lite-device", .topology = "2x4", .chips = {1'000'000}}, "p");
  const Answer answer = review(pod, with_kinds({.device_env = true}));
  EXPECT_EQ(answer.patch.find("TPU_RUNTIME_METRICS_PORTS"), std::string::npos);
  EXPECT_LT(answer.allocated, kPerByte * answer.review + kFixed);
}

TEST(MutationBounds, AreNotExceededByTextsInMessages) {
  const std::string text = long_text();
  Json gating = JobPod{}.json();
  gating["metadata"]["annotations"]["tpuslice.dev/gating"] = text;
  Json label = JobPod{}.json();
  label["metadata"]["labels"]["tpuslice.dev/slice"] = text;
  Json container = JobPod{.shape = {.accelerator = "tpu7x", .topology = "2x2x2", .chips = {1, 2}}}.json();
  container["spec"]["containers"][0]["name"] = text;
  for (const Json& pod : {gating, label, container}) {
    const Answer answer = review(pod);
    EXPECT_EQ(answer.code, 422);
    EXPECT_LT(answer.response, 1024U);
  }
}

/// What the errors of a review may cost at a time, beside what the same review costs without errors.
constexpr std::int64_t kErrors = 8 << 20;

TEST(ValidationBounds, RefuseAHundredThousandInvalidLabels) {
  const auto with_labels = [](const std::string& key, const std::string& value) {
    Json cluster = rules::testing::tpu_cluster();
    Json& labels = cluster["spec"]["workerGroupSpecs"][0]["labels"];
    for (int i = 0; i < 99'900; ++i) labels[fmt::format("{}{}", key, i)] = value;
    return cluster;
  };
  const Answer valid = validate(with_labels("key-", "value"));
  const Answer invalid = validate(with_labels("-key", "-value"));
  ASSERT_TRUE(valid.allowed) << valid.message;
  EXPECT_EQ(invalid.code, 422);
  EXPECT_THAT(invalid.message, ::testing::EndsWith(", and 199784 more]"));
  EXPECT_LT(invalid.peak, valid.peak + kErrors);
}

TEST(ValidationBounds, RefuseAnUpdateWithAsManyChanges) {
  const auto with_args = [](const std::string& arg) {
    Json jobset = rules::testing::tpu_jobset();
    jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]["args"] =
        Json(95'000, arg);
    return jobset;
  };
  const Answer equal = validate(with_args("before"), with_args("before"));
  const Answer changed = validate(with_args("after-"), with_args("before"));
  ASSERT_TRUE(equal.allowed) << equal.message;
  EXPECT_EQ(changed.code, 422);
  EXPECT_THAT(changed.message, ::testing::EndsWith(", and 94984 more]"));
  EXPECT_LT(changed.peak, equal.peak + kErrors);
}

TEST(ValidationBounds, ReadEachMountOnceForAllClaims) {
  Json jobset = rules::testing::tpu_jobset();
  for (int i = 0; i < 250; ++i) {
    Json& policy = jobset["spec"]["volumeClaimPolicies"][static_cast<std::size_t>(i / 50)];
    policy["templates"].push_back({{"metadata", {{"name", fmt::format("claim-with-a-long-name-{}", i)}}}});
  }
  Json& pod = jobset["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"];
  for (int i = 0; i < 30'000; ++i) {
    const Json named = {{"name", fmt::format("volume-with-a-long-name-{}", i)}};
    pod["containers"][0]["volumeMounts"].push_back(named);
    pod["volumes"].push_back(named);
  }
  const Answer answer = validate(jobset);
  EXPECT_THAT(answer.message, ::testing::HasSubstr("no container mounts it"));
  EXPECT_LT(answer.allocated, kPerByte * answer.review + kFixed);
}

}  // namespace
}  // namespace tpuslice::webhook
