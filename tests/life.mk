# The statistics and views of lifetimes, without the rest of the tool.
LIFE_STATS_OBJ := $(addprefix $(B)/bpf/,life_stats.o life_groups.o life_curve.o life_model.o life_decode.o life_samples.o life_stacks.o life_by_stack.o)
LIFE_VIEW_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard bpf/life_view*.c)) \
	$(addprefix $(B)/bpf/,csv.o failure.o format.o gzip.o model.o model_json.o plot.o profile.pb-c.o text.o)
$(B)/tests/test_life_stats: $(LIFE_STATS_OBJ)
LIFE_VIEW_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_life_view_*.c))
$(LIFE_VIEW_TESTS): $(B)/tests/life_views.o $(LIFE_STATS_OBJ) $(LIFE_VIEW_OBJ)
$(LIFE_VIEW_TESTS): LDLIBS += -ljansson -lprotobuf-c -lz
$(B)/tests/unit/test_life_view_profiles.o: CPPFLAGS_ALL += -isystem $(B)/bpf
$(B)/tests/unit/test_life_view_profiles.o: $(B)/bpf/profile.pb-c.h
$(B)/tests/test_life_pretenure: $(LIFE_STATS_OBJ) $(LIFE_VIEW_OBJ) $(B)/bpf/life_pretenure.o $(B)/bpf/replace.o
$(B)/tests/test_life_pretenure: LDLIBS += -ljansson -lprotobuf-c -lz

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
$(B)/tests/shares-$(1): $(B)/workloads/$(1).o $(B)/workloads/program.o $(patsubst %.c,$(B)/%.o,$(wildcard workloads/$(FOLDER_$(1))/*.c)) $(B)/tests/shares.o $(B)/lib/libeden.a
	$$(CC) -o $$@ $$^ $$(LDFLAGS) -Wl,--wrap=eden_probe_batch,--wrap=eden_probe_class__define $$(LIBS_$(1)) -lm -lpthread
endef
$(foreach program,$(SHARES:$(B)/tests/shares-%=%),$(eval $(call SHARES_RULE,$(program))))
test-programs: $(SHARES)
