#include "tests/golden/short_form.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "api/base/file.h"

namespace tpuslice::golden {
namespace {

/// A plan with two pods; the body of the second one is `second`.
std::string a_plan(const std::string& second) {
  return R"(reason: two pods are missing
stages:
- - action: create
    body:
      kind: Pod
      metadata:
        labels:
          example.com/host: "0"
        name: train-0
        namespace: ml
      spec:
        containers:
        - command:
          - python3
          - -m
          - train
          env:
          - name: TPU_WORKER_ID
            value: "0"
          - name: TPU_NAME
            value: train
          - name: EMPTY
            value: null
          image: ray
          name: ray-worker
          ports:
          - containerPort: 8080
            name: metrics
          - containerPort: 8081
            name: debug
        hostNetwork: true
        hostPID: false
        nodeSelector: null
        subdomain: train
        tolerations:
        - key: google.com/tpu
        - key: spot
    object: ml/train-0
    resource: pods
  - action: create
    body:
)" + second +
         R"(    object: ml/train-1
    onSuccess:
    - reason: CreatedWorkerPod
    resource: pods
)";
}

const std::string kFull = a_plan(R"(      kind: Pod
      metadata:
        labels:
          example.com/host: "1"
        name: train-1
        namespace: ml
      spec:
        containers:
        - command:
          - python3
          - -m
          - train
          env:
          - name: TPU_WORKER_ID
            value: "1"
          - name: TPU_NAME
            value: train
          - name: EMPTY
            value: null
          image: ray
          name: ray-worker
          ports:
          - containerPort: 8080
            name: metrics
          - containerPort: 8081
            name: debug
        hostNetwork: true
        hostPID: false
        nodeSelector: {}
        tolerations:
        - key: google.com/tpu
)");

const std::string kShort = a_plan(R"(      like: Pod ml/train-0
      with:
        /metadata/labels/example.com~1host: "1"
        /metadata/name: train-1
        /spec/containers/0/env/0/value: "1"
        /spec/nodeSelector: {}
        /spec/tolerations:
        - key: google.com/tpu
      without:
      - /spec/subdomain
)");

std::string shortened(std::string_view text) { return print(shorten(parse(text).value())); }
std::string expanded(std::string_view text) { return print(expand(parse(text).value())); }

/// A document that is an object itself, with `values` equal lines and one line of its own.
Json a_pod(const std::string& name, int values, const std::string& of_its_own) {
  Json pod = {{"kind", "Pod"}, {"metadata", {{"name", name}}}, {"spec", {{"hostname", of_its_own}}}};
  for (int i = 0; i < values; ++i) pod["spec"]["value" + std::to_string(i)] = i;
  return pod;
}

TEST(GoldenShortForm, ABodyIsPrintedAsItsDifferenceToAnEarlierOne) { EXPECT_EQ(shortened(kFull), kShort); }

TEST(GoldenShortForm, ExpandingGivesTheFullFormBack) { EXPECT_EQ(expanded(kShort), kFull); }

TEST(GoldenShortForm, TheFullFormIsExpandedAlready) { EXPECT_EQ(expanded(kFull), kFull); }

TEST(GoldenShortForm, ADifferenceOfMoreThanAThirdIsNotUsed) {
  const std::vector<Json> long_enough = {a_pod("a", 7, "x"), a_pod("b", 7, "y")};  // 12 lines; the difference has 4.
  EXPECT_EQ(shorten(long_enough)[1]["like"], "Pod a");
  const std::vector<Json> too_short = {a_pod("a", 6, "x"), a_pod("b", 6, "y")};
  EXPECT_EQ(shorten(too_short), too_short);
}

TEST(GoldenShortForm, TheSmallestDifferenceIsUsed) {
  const std::vector<Json> pods = {a_pod("a", 20, "x"), a_pod("b", 20, "y"), a_pod("c", 20, "y"), a_pod("d", 20, "x")};
  const std::vector<Json> short_pods = shorten(pods);
  EXPECT_EQ(short_pods[1]["like"], "Pod a");
  EXPECT_EQ(short_pods[2]["like"], "Pod b");
  EXPECT_EQ(short_pods[3]["like"], "Pod a");
  EXPECT_EQ(expand(short_pods), pods);
}

TEST(GoldenShortForm, OnlyBodiesOfTheSameKindAreCompared) {
  Json service = a_pod("b", 20, "x");
  service["kind"] = "Service";
  const std::vector<Json> documents = {a_pod("a", 20, "x"), service};
  EXPECT_EQ(shorten(documents), documents);
}

TEST(GoldenShortForm, OfSeveralBodiesWithOneNameTheFirstIsMeant) {
  const std::vector<Json> pods = {a_pod("a", 20, "x"), a_pod("a", 30, "y"), a_pod("b", 30, "y")};
  EXPECT_EQ(expand(shorten(pods)), pods);
}

TEST(GoldenShortForm, ADifferenceToAnUnknownBodyStays) {
  const std::vector<Json> pods = {{{"like", "Pod a"}, {"with", {{"/metadata/name", "b"}}}}};
  EXPECT_EQ(expand(pods), pods);
}

TEST(GoldenShortForm, NoGoldenFileLosesAValue) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/golden")) {
    if (entry.path().filename() != "plan.yaml") continue;
    SCOPED_TRACE(entry.path());
    const std::string full = expanded(read_file(entry.path()).value());
    EXPECT_EQ(expanded(shortened(full)), full);
    ++files;
  }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace tpuslice::golden
