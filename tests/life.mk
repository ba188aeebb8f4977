# The views of lifetimes.
LIFE_VIEW_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_life_view_*.c)) $(B)/tests/test_forms
$(LIFE_VIEW_TESTS): $(B)/tests/life_views.o
$(B)/tests/unit/test_life_view_profiles.o: CPPFLAGS_ALL += -isystem $(B)/bpf
$(B)/tests/unit/test_life_view_profiles.o: $(B)/bpf/profile.pb-c.h

# Native stacks: a program whose functions a stack can be followed through, and one where it ends after the first.
ALLOCATORS := $(B)/tests/allocators $(B)/tests/allocators-bare
$(B)/tests/allocators.o: CFLAGS_ALL += -fno-omit-frame-pointer -fno-optimize-sibling-calls
$(B)/tests/allocators-bare.o: tests/allocators.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS_tests) $(CFLAGS_ALL) -fomit-frame-pointer -MMD -MP -c $< -o $@
$(ALLOCATORS): %: %.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread
test-programs: $(ALLOCATORS)

# The five programs with a listener of their own.
SHARES := $(addprefix $(B)/tests/shares-,dataframe honeyginger mobidyc bloc moose)
define SHARES_RULE
$(B)/tests/shares-$(1): $(call workload_objects,$(1)) $(B)/tests/shares.o $(B)/lib/libeden-internals.a
	$$(CC) -o $$@ $$^ $$(LDFLAGS) -Wl,--wrap=eden_probe_batch,--wrap=eden_probe_class__define $$(LIBS_$(1)) -lm -lpthread
endef
$(foreach program,$(SHARES:$(B)/tests/shares-%=%),$(eval $(call SHARES_RULE,$(program))))
test-programs: $(SHARES)
