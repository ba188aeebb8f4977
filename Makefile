# Eden. `make help` lists the targets.
#
# Each folder's fragment adds its own: runtime/ (libeden), bpf/ (edenscope), workloads/, tests/, bench/.
CC ?= gcc
CLANG ?= clang
B := build
# 1: the probes are compiled in. 0: they are not; everything else is the same.
PROBES ?= 1
# 1: the build that finds the embedder's mistakes (runtime/check/check.c); with a folder of its own: B=build/checked.
CHECKED ?= 0

WARN := -Wall -Wextra -Wshadow -Wconversion -Werror
OPT ?= -O2 -g
CPPFLAGS_ALL := -Iprobes -Iruntime/include -D_GNU_SOURCE $(if $(filter 0,$(PROBES)),-DEDEN_NO_PROBES) $(if $(filter 1,$(CHECKED)),-DEDEN_CHECKED) $(CPPFLAGS)
CFLAGS_ALL := -std=gnu17 $(WARN) $(OPT) -fvisibility=hidden -fPIC $(CFLAGS)

.PHONY: all help demo test bench lint install clean setup
all: help-or-build

include runtime/runtime.mk
-include bpf/bpf.mk
-include workloads/workloads.mk
-include examples/examples.mk
-include tests/tests.mk
-include bench/bench.mk

.PHONY: help-or-build
help-or-build: $(ALL)

# With each object comes a list of the headers that it includes.
$(B)/%.o $(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS_$(firstword $(subst /, ,$*))) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
-include $(shell find $(B) -name '*.d' 2>/dev/null)

setup: ## install what building and tracing need (Debian packages; says so first)
	@scripts/setup

clean: ## remove what was built
	rm -rf $(B)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
