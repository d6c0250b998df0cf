# Front end: meson and ninja build, scripts/ does the rest. Each target installs what it needs
# (scripts/setup).

PREFIX ?= /usr/local
SECONDS ?= 60
SUITE ?= trixie

.PHONY: all demo test test-power test-soak test-containers test-projects test-web test-vm test-debian test-arm64 coverage mutate test-monitoring test-agents test-matrix lint bench fuzz install clean help build
.NOTPARALLEL:

all: ## build the programs into build/ (the default)
	@scripts/setup build
	@$(MAKE) --no-print-directory build

demo: ## watch a loop fix a small project; needs no key and no network
	@scripts/setup demo
	@$(MAKE) --no-print-directory build
	@build/ringfence demo

test: ## run the tests, as root also as a plain user; K=WORD selects, ARGS= is for pytest
	@scripts/setup test
	@$(MAKE) --no-print-directory build
	@tests/run.py $(if $(SANITIZE),--sanitize) $(if $(K),-k '$(K)') $(ARGS)

test-power: ## cut the power at many moments and go on; needs root; CUTS=4 tries some of them
	@scripts/setup power
	@$(MAKE) --no-print-directory build
	@if [ "$$(id -u)" = 0 ] && [ -e /dev/loop-control ]; then \
		RINGFENCE_TEST_CUTS='$(CUTS)' tests/run.py --root-only tests/power $(ARGS); \
	else echo 'skipped: power cuts need root and loop devices, to mount a disk of their own'; fi

test-soak: ## kill processes of loops at random and count their cost, and apply drafts with random edits; LOOPS=100 DRAFTS=100
	@scripts/setup test
	@$(MAKE) --no-print-directory build
	@RINGFENCE_TEST_LOOPS='$(LOOPS)' RINGFENCE_TEST_DRAFTS='$(DRAFTS)' RINGFENCE_TEST_SEED='$(SEED)' tests/run.py -x tests/soak $(ARGS)

test-containers: ## test the fence of podman, docker and landlock; K=socket chooses some
	@scripts/setup containers
	@$(MAKE) --no-print-directory build
	@tests/containers/run $(if $(K),-k '$(K)') $(ARGS)

test-projects: ## build and test real projects in drafts; K=go chooses some
	@scripts/setup projects
	@$(MAKE) --no-print-directory build
	@tests/projects/run $(if $(K),-k '$(K)') $(ARGS)

test-web: ## test the web page in a real browser; K=keys chooses some
	@scripts/setup web
	@$(MAKE) --no-print-directory build
	@tests/web/run $(if $(K),-k '$(K)') $(ARGS)

test-vm: ## run tests about limits in a virtual machine with systemd and cgroup v2; needs root
	@scripts/setup vm
	@$(MAKE) --no-print-directory build
	@tests/vm/run $(ARGS)

test-debian: ## run the tests in another release of Debian: SUITE=trixie; needs root
	@scripts/setup root
	@scripts/test-debian '$(SUITE)' $(if $(K),K='$(K)') $(if $(ARGS),ARGS='$(ARGS)')

test-arm64: ## cross-build for arm64, check what was built, run it with a kernel for arm64; needs root
	@scripts/setup arm64
	@scripts/test-arm64

coverage: ## measure which lines and branches the tests reach; takes a while
	@scripts/setup coverage
	@$(MAKE) --no-print-directory build
	@tests/coverage.py

mutate: ## change the sources in small ways and show what no test notices; ROOM=fence/plan, TABLES=1
	@scripts/setup test
	@tests/mutate/run.py $(if $(TABLES),--tables $(filter-out 1,$(TABLES))) $(ROOM) $(ARGS)

test-monitoring: ## have promtool check our metrics and alert rules; installs Debian's prometheus
	@scripts/setup monitoring
	@$(MAKE) --no-print-directory build
	@tests/run.py --user-only tests/e2e/test_report.py -k promtool $(ARGS)

test-agents: ## run real agents in the fence against model servers of our own; NEWEST=1 tries the newest
	@scripts/setup agents
	@$(MAKE) --no-print-directory build
	@tests/agents/run $(if $(NEWEST),--newest) $(if $(K),-k '$(K)') $(ARGS)

test-matrix: ## run every agent with every failure of a provider; takes some minutes
	@scripts/setup agents
	@$(MAKE) --no-print-directory build
	@RINGFENCE_TEST_MATRIX=all tests/agents/run $(if $(NEWEST),--newest) $(if $(K),-k '$(K)') $(ARGS) tests/agents/test_matrix.py

lint: ## check formatting, clang-tidy, shell scripts, includes, names and prose
	@scripts/setup lint
	@$(MAKE) --no-print-directory build
	@scripts/lint

bench: ## measure against bubblewrap, sandbox-runtime and ralphy-cli, side by side
	@scripts/setup bench
	@$(MAKE) --no-print-directory build
	@bench/run.py

fuzz: ## fuzz the parsers, SECONDS=60 for each target
	@scripts/setup fuzz
	@scripts/fuzz $(SECONDS)

install: ## install into PREFIX (/usr/local); DESTDIR is honoured
	@test -x build/ringfence || $(MAKE) --no-print-directory all
	@test '$(PREFIX)' = /usr/local || { meson configure build --prefix '$(PREFIX)' && ninja -C build --quiet; }
	@DESTDIR='$(DESTDIR)' meson install -C build --no-rebuild

clean: ## remove all build output
	@rm -rf build build-*

help: ## show this list
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## */\1\t/p' Makefile | while IFS='	' read -r name text; do \
		printf '  make %-12s%s\n' "$$name" "$$text"; done

build:
	@test -f build/build.ninja || echo 'configuring the build ...'
	@test -f build/build.ninja || out=$$(meson setup build --prefix '$(PREFIX)' 2>&1) || \
		{ echo "$$out"; exit 1; }
	@test -x build/ringfence || echo 'building; the first time takes some minutes ...'
	@cd build && if ! ninja -n all unit-tests | grep -q '^ninja: no work'; then \
		if [ -t 1 ]; then NINJA_STATUS='building %f of %t: ' ninja all unit-tests; \
		else ninja --quiet all unit-tests; fi; fi
