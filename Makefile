# `make demo` and `make test` install and build everything that they need.
PRESET ?= dev
JOBS   ?= 2
BUILD  := build/$(PRESET)

.DEFAULT_GOAL := help
.PHONY: help api-docs attacks deps build controlplane conformance test test-all test-nodes test-rest first-tests first-assets rest-assets check check-alerts check-bench check-format check-locks check-includes check-tidy demo format golden helm histories manifests nodes asan tsan fuzz mutants rotation bench bench-admission bench-fleet bench-fleet-pages bench-healing bench-placement bench-recovery bench-scale bench-scheduling image clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: ## Install the Debian packages that are missing
	@tests/support/deps.sh

build: deps ## Build everything (PRESET=dev|asan|tsan|release, JOBS=2)
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET)
	@cmake --build --preset $(PRESET) -j $(JOBS)

controlplane: ## Build etcd, the Kubernetes control plane, kwok, Kueue and Helm, once, for the end-to-end tests
	@tests/controlplane/build.sh
	@tests/kueue/build.sh
	@tests/helm/build.sh
	@tests/upgrade/build.sh

NODES ?= 6
nodes: deps ## Run a cluster of NODES (6) with real kubelets until it is interrupted; see tests/nodes/README.md
	@tests/nodes/up.sh $(NODES) $(ARGS)

conformance: deps controlplane ## Replay the exchanges of tests/conformance on a real and on the simulated API server
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target tpu-slice-conformance
	@build/dev/bin/tpu-slice-conformance $(ARGS)

# Labels of the tests of `make test`.
FIRST := unit|golden|laws|sim|kinds
# A part of the random worlds and histories; `make test-all` runs all.
PART := $(if $(TPUSLICE_ALL),,TPUSLICE_WORLDS=100 TPUSLICE_SIM_SEEDS=10)
# Images of the tests on real kubelets.
NODE_IMAGES := pause busybox python
test: deps ## Build and run unit, golden, law and simulation tests, and a scenario of each kind on a real control plane
	@$(MAKE) --no-print-directory -j 2 first-tests first-assets
	@$(PART) tests/support/run_tests.sh $(BUILD) -L '$(FIRST)'

test-all: deps ## The same, then all other tests, also those on real kubelets
	@tests/support/test_all.sh

test-rest:
	@$(MAKE) --no-print-directory -j 2 build rest-assets
	@tests/support/run_tests.sh $(BUILD) -LE '$(FIRST)'

first-tests: deps
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET)
	@cmake --build --preset $(PRESET) -j $(JOBS) --target first_tests

# Programs of others, which are downloaded and built beside the tests. Tests that lack one are skipped.
first-assets: deps
	@tests/controlplane/build.sh || true

rest-assets: first-assets
	@tests/nodes/images/build.sh $(NODE_IMAGES) >/dev/null || true
	@tests/ray/install.sh >/dev/null || true
	@tests/kueue/build.sh || true
	@tests/helm/build.sh || true
	@tests/page/build.sh || true
	@tests/upgrade/build.sh || true

test-nodes: deps controlplane ## Build and run the tests on real kubelets alone; see tests/nodes/README.md
	@tests/nodes/images/build.sh $(NODE_IMAGES) >/dev/null
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target nodes_tests
	@tests/support/run_tests.sh build/dev -L nodes

demo: deps ## Run the MaxText tutorial's RayCluster in a simulated TPU cluster
	@[ -f build/dev/build.ninja ] || cmake --preset dev -DTPUSLICE_TESTS=ON
	@cmake --build --preset dev -j $(JOBS) --target tpu-slice-sim
	@cmd/tpu-slice-sim/demo.sh build/dev/bin/tpu-slice-sim

check: check-format check-locks check-includes check-tidy asan tsan ## All static checks and sanitizers (long; see CONTRIBUTING.md)

check-alerts: ## Test the alerts of deploy/monitoring with promtool, which it builds once
	@tests/monitoring/check.sh

check-format: ## Every C++ file is formatted as .clang-format says
	@tests/support/deps.sh clang-format-14
	@git ls-files '*.h' '*.cpp' | xargs clang-format-14 --dry-run --Werror

# The programs, and the libraries of the tests.
LOCKED := tpu-slice-operator tpu-slice-sim $(addprefix tpuslice_,autoscaler bench_tools control_plane fake_api operator_process scenarios)
check-locks: ## Compile with Clang, whose -Wthread-safety checks every lock
	@tests/support/deps.sh clang-16
	@cmake --preset clang >/dev/null
	@cmake --build --preset clang -j $(JOBS) --target $(LOCKED)

# ONLY limits a check: files of check-tidy, targets of check-bench and check-includes, a program of asan and tsan, mutants by their names.
ONLY ?=
BENCHMARKS := $(addprefix tpu-slice-,bench admission-bench fleet-bench fleet-pages-bench healing-bench placement-bench recovery-bench scale-bench scheduling-bench)
check-bench: deps ## Build the benchmarks, which no test needs
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target $(or $(ONLY),$(BENCHMARKS))

check-includes: deps ## Compile the release build file by file and without precompiled header
	@[ -f build/includes/build.ninja ] || cmake --preset includes
	@cmake --build --preset includes -j $(JOBS) $(addprefix --target ,$(ONLY))

SINCE ?= origin/main
check-tidy: ## clang-tidy on the C++ files that changed since SINCE (origin/main), and on those beside changed headers
	@tests/support/deps.sh clang-tidy-16
	@cmake --preset tidy >/dev/null
	@sources="$(or $(ONLY),$$(tests/support/changed_sources.sh $(SINCE)))" && tests/support/tidy.sh $(JOBS) $$sources

# Only what is run is built. A few random worlds and histories reach the same code as many.
SANITIZED := $(if $(ONLY),-R '^$(ONLY)(_[0-9]+)?$$',-L 'unit|laws|sim')
FEW := TPUSLICE_SIM_SEEDS=8 TPUSLICE_HISTORIES=60 TPUSLICE_WORLDS=40
asan: deps ## Unit, law and simulation tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@[ -f build/asan/build.ninja ] || cmake --preset asan
	@cmake --build --preset asan -j $(JOBS) --target $(or $(ONLY),sanitized_tests)
	@LSAN_OPTIONS=suppressions=$(CURDIR)/tests/support/lsan.supp $(FEW) tests/support/run_tests.sh build/asan $(SANITIZED)

tsan: deps ## The same under ThreadSanitizer
	@[ -f build/tsan/build.ninja ] || cmake --preset tsan
	@cmake --build --preset tsan -j $(JOBS) --target $(or $(ONLY),sanitized_tests)
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tests/support/tsan.supp $(FEW) tests/support/run_tests.sh build/tsan $(SANITIZED)

HISTORIES ?= 100000
FUZZ_SECONDS ?= 60
fuzz: ## Run each fuzzer for FUZZ_SECONDS (60); findings are written to build/fuzz/corpus/findings
	@tests/support/deps.sh clang-14 libclang-rt-14-dev
	@[ -f build/fuzz/build.ninja ] || cmake --preset fuzz
	@cmake --build --preset fuzz -j $(JOBS) --target admission_fuzzer values_fuzzer watch_fuzzer
	@tests/fuzz/run.sh build/fuzz/bin $(FUZZ_SECONDS)

SECONDS ?= 600
SEED ?= 1
attacks: deps controlplane ## Send generated attacks to the operator on a real control plane for SECONDS (600); SEED=n sends others
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target e2e_generated_attacks_test
	@TPUSLICE_ATTACK_SECONDS=$(SECONDS) TPUSLICE_ATTACK_SEED=$(SEED) build/dev/bin/e2e_generated_attacks_test

histories: ## Run HISTORIES (100000) random histories of slices, JOBS (2) at a time
	@cmake --build --preset dev -j $(JOBS) --target sim_slice_histories_test
	@tests/sim/slices/histories.sh build/dev/bin/sim_slice_histories_test $(HISTORIES) $(JOBS)

golden: build ## Rewrite the golden files; then read `git diff`
	@TPUSLICE_GOLDEN=update ctest --test-dir $(BUILD) -L golden --output-on-failure
	@git --no-pager diff --stat -- tests/golden

format: ## Format the C++ code in place
	@tests/support/deps.sh clang-format-14
	@git ls-files '*.h' '*.cpp' | xargs -P $(JOBS) -n 20 sh -c \
	  'for file; do clang-format-14 --dry-run --Werror "$$file" 2>/dev/null || clang-format-14 -i "$$file"; done' sh

# The file is replaced at the end only, so that no test reads a part of it.
manifests: ## Rewrite deploy/install.yaml from deploy/overlays/default
	@{ echo "# Generated from deploy/overlays/default by \`make manifests\`."; kubectl kustomize deploy/overlays/default; } >build/install.yaml
	@mv build/install.yaml deploy/install.yaml

helm: ## Package the Helm chart into build/
	@tests/helm/build.sh
	@"$$(tests/helm/assets.sh)" package deploy/helm/tpu-slice-operator --destination build 2>/dev/null

mutants: deps ## Break the planners in known ways; the tests must fail for each (slow)
	@tests/laws/mutants.sh build/mutants $(ONLY)

NUMBER ?=
rotation: deps ## Run a tenth of the long checks, for ROTATION_SECONDS (420); NUMBER=0 to 9, else by the number of commits
	@tests/support/rotation.sh $(NUMBER)

bench: deps controlplane ## Measure the release build on a real control plane; ARGS=--record saves the figures
	@[ -f build/release/build.ninja ] || cmake --preset release -DTPUSLICE_TESTS=OFF
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-operator
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target tpu-slice-bench
	@build/dev/bin/tpu-slice-bench --operator build/release/bin/tpu-slice-operator $(ARGS)

bench-admission: deps ## Measure admission in the release build: the mutator alone, over HTTPS, during certificate rotation
	@cmake --preset release -DTPUSLICE_TESTS=OFF >/dev/null
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-admission-bench
	@build/release/bin/tpu-slice-admission-bench $(ARGS)

bench-fleet: deps ## Compare placement policies on a simulated fleet in virtual time (minutes); ARGS='--nodes 5000 --json FILE'
	@[ -f build/release/build.ninja ] || cmake --preset release -DTPUSLICE_TESTS=OFF
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-fleet-bench
	@build/release/bin/tpu-slice-fleet-bench $(ARGS)

bench-fleet-pages: deps controlplane ## Measure answers about a fleet of 15,000 nodes: served by the operator, and by kubectl tpu (minutes)
	@[ -f build/release/build.ninja ] || cmake --preset release -DTPUSLICE_TESTS=OFF
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-operator kubectl-tpu
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target tpu-slice-fleet-pages-bench
	@build/dev/bin/tpu-slice-fleet-pages-bench --operator build/release/bin/tpu-slice-operator \
	  --plugin build/release/bin/kubectl-tpu $(ARGS)

bench-healing: deps controlplane ## Measure how long a slice is not Ready after one of its pods has failed, beside KubeRay
	@tests/upstream/operator/build.sh kuberay
	@[ -f build/release/build.ninja ] || cmake --preset release -DTPUSLICE_TESTS=OFF
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-operator
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target tpu-slice-healing-bench
	@built=$$(bash -c 'source tests/upstream/operator/versions.sh && directory_of kuberay') && \
	  build/dev/bin/tpu-slice-healing-bench --operator build/release/bin/tpu-slice-operator --kuberay "$$built/operator" \
	  --kuberay-crds "$$built/config/crd/bases" $(ARGS)

bench-placement: deps ## Measure the plans of the placement controller in the release build
	@cmake --preset release -DTPUSLICE_TESTS=OFF >/dev/null
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-placement-bench
	@build/release/bin/tpu-slice-placement-bench

# Who repairs the slices: nothing is this operator.
REPAIRED_BY ?= '' '--upstream jobset' '--upstream lws' '--upstream kuberay' --by-hand
bench-recovery: deps controlplane ## Measure on real kubelets how long a slice is away after a failure, beside upstream and by hand (hours)
	@tests/nodes/images/build.sh pause busybox >/dev/null
	@tests/upstream/operator/build.sh
	@[ -f build/release/build.ninja ] || cmake --preset release -DTPUSLICE_TESTS=OFF
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-operator
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target tpu-slice-recovery-bench
	@for by in $(REPAIRED_BY); do \
	  tests/nodes/run.sh build/dev/bin/tpu-slice-recovery-bench --operator build/release/bin/tpu-slice-operator $$by $(ARGS) || exit 1; done

bench-scheduling: deps controlplane ## Measure how fast kube-scheduler binds slices, on up to 15,000 nodes (long)
	@[ -f build/release/build.ninja ] || cmake --preset release -DTPUSLICE_TESTS=OFF
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-operator
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target tpu-slice-scheduling-bench
	@build/dev/bin/tpu-slice-scheduling-bench --operator build/release/bin/tpu-slice-operator $(ARGS)

bench-scale: deps controlplane ## Measure the operator with 100,000 pods and 15,000 nodes (half an hour, with 24 GiB of memory)
	@[ -f build/release/build.ninja ] || cmake --preset release -DTPUSLICE_TESTS=OFF
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-operator
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target tpu-slice-scale-bench
	@build/dev/bin/tpu-slice-scale-bench --operator build/release/bin/tpu-slice-operator $(ARGS)

VERSION ?=
OUT ?= build/image
image: deps ## Build the OCI image without a container engine in OUT (build/image); see docs/image.md
	@tests/support/deps.sh binutils ca-certificates
	@cmake --preset release -DTPUSLICE_TESTS=OFF >/dev/null
	@cmake --build --preset release -j $(JOBS) --target tpu-slice-operator
	@deploy/image/build.sh --binary build/release/bin/tpu-slice-operator --out $(OUT) $(if $(VERSION),--version $(VERSION))

api-docs: deps ## Rewrite docs/api from deploy/crds
	@[ -f build/dev/build.ninja ] || cmake --preset dev
	@cmake --build --preset dev -j $(JOBS) --target unit_deploy_test
	@TPUSLICE_GOLDEN=update build/dev/bin/unit_deploy_test --gtest_brief=1 --gtest_filter='ApiReference.IsUpToDate'

clean: ## Remove all build trees
	@rm -rf build
