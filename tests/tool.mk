# edenscope's own tests. Those in e2e/ are found by themselves; here is what they and the unit tests need.
PROBE_GUN := $(B)/tests/probe_gun
$(PROBE_GUN): $(B)/tests/probe_gun.o $(B)/probes/probes.o
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS)
test-programs: $(PROBE_GUN)

$(B)/tests/test_notes: $(B)/bpf/notes.o $(B)/bpf/operand.o
$(B)/tests/test_notes: LDLIBS += -lelf
$(B)/tests/test_symbols: $(addprefix $(B)/bpf/,symbols.o target.o)
$(B)/tests/test_symbols: LDLIBS += -lelf
$(B)/tests/test_heapinfo: $(B)/bpf/heapinfo.o
$(B)/tests/test_model: $(B)/bpf/model.o $(B)/bpf/model_json.o $(B)/bpf/format.o $(B)/bpf/text.o
$(B)/tests/test_model: LDLIBS += -ljansson
$(B)/tests/test_life_model $(B)/tests/test_life_stacks: $(addprefix $(B)/bpf/,life_model.o life_decode.o life_samples.o life_stacks.o life_by_stack.o life_groups.o life_names.o life_options.o failure.o)
$(B)/tests/test_tune_search: $(addprefix $(B)/bpf/tune/,search.o search_measure.o search_walk.o search_rounds.o \
	search_find.o search_space.o spread.o)
$(B)/tests/test_tune_search: LDLIBS += -ljansson
$(B)/tests/test_tune_trial: $(addprefix $(B)/bpf/,tune/trial.o tune/trial_stats.o failure.o interrupt.o format.o model.o)
$(B)/tests/test_tune_trial: LDLIBS += -ljansson
