# edenscope's own tests. Those in e2e/ are found by themselves; here is what they and the unit tests need.
PROBE_GUN := $(B)/tests/probe_gun
$(PROBE_GUN): $(B)/tests/probe_gun.o $(B)/probes/probes.o
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS)
test-programs: $(PROBE_GUN)

# Somebody cuts the file of a trial's figures between its size and its bytes.
$(B)/tests/test_tune_trial: LDLIBS += -Wl,--wrap=fstat

# What test_children.sh runs.
CHILDREN := $(B)/tests/children
$(CHILDREN): $(B)/tests/children.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread
test-programs: $(CHILDREN)

# The kernel's part is played by the test.
$(B)/tests/test_source: LDLIBS += -Wl,--wrap=kernel_set_spec,--wrap=kernel_heaps,--wrap=kernel_share,--wrap=kernel_lost,--wrap=kernel_attach,--wrap=kernel_uses_multi,--wrap=kernel_descriptors,--wrap=kernel_arm,--wrap=source_take_notices,--wrap=source_missed_children
