# make lint: formatting, clang's warnings, clang-tidy. Each file has a stamp, so that only what changed is checked again.
LINT_FOLDERS := $(wildcard runtime probes bpf workloads tests examples bench)
LINT_FILES := $(shell find $(LINT_FOLDERS) -name '*.[ch]' -o -name '*.[ch]pp')
LINT_HEADERS := $(filter %.h,$(LINT_FILES))
# Kernel programs are compiled for another machine; tests use cmocka's macros, which clang-tidy can't judge.
TIDY_FILES := $(filter-out %.bpf.c tests/%,$(filter %.c,$(LINT_FILES)))
TIDY_STAMPS := $(TIDY_FILES:%.c=$(B)/lint/%.tidy)
# The analyzer's limit on the paths of a function, usually 225,000. A null dereference at the end of each of the 40
# longest functions: it finds 32 of them so, and 34 with 75,000, in three times the time.
TIDY_FLAGS := -Xclang -analyzer-config -Xclang max-nodes=20000
LINT_FLAGS = $(CPPFLAGS_ALL) $(CPPFLAGS_$(firstword $(subst /, ,$<))) -std=gnu17 $(WARN)

# What bpf/ generates is included by its sources, so everything is built first.
lint: ## check format, floors, clang's warnings and clang-tidy
	@scripts/setup
	@$(MAKE) --no-print-directory -s lint-floors
	@$(MAKE) --no-print-directory -s $(JOBS) all
	@clang-format --dry-run -Werror $(LINT_FILES)
	@! grep -rnE '\<(stderr|STDERR_FILENO|perror|vfprintf)\>' bpf --include='*.c' | \
		grep -vE '^bpf/util/(message|stream|terminal)\.c:|: +print_help\(stderr\);$$' || \
		{ echo "lint: only bpf/util/message.c writes to stderr, for it escapes"; exit 1; }
	@! grep -rnE '(->|\.)(lost|beyond|births|forgotten|weight)[a-z_.]* \+= ' bpf --include='*.[ch]' || \
		{ echo "lint: what others count is added by sum_add(), for it may be any number"; exit 1; }
	@$(MAKE) --no-print-directory -s $(JOBS) lint-stamps
	@echo "lint: $(words $(LINT_FILES)) files formatted, $(words $(TIDY_FILES)) checked by clang and clang-tidy"

.PHONY: lint-floors
lint-floors: ## check that no file includes a header of a floor above (docs/architecture.md)
	@scripts/floors

.PHONY: lint-stamps
lint-stamps: $(TIDY_STAMPS)
$(TIDY_STAMPS): $(B)/lint/%.tidy: %.c $(wildcard .clang-tidy */.clang-tidy) $(LINT_HEADERS)
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- $(LINT_FLAGS) $(TIDY_FLAGS) 2>$@.log || { cat $@.log; exit 1; }
	@touch $@
