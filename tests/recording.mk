# Recordings: what is written reads back, and what is damaged does no harm.
RECORDING_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard bpf/recording*.c)) \
	$(addprefix $(B)/bpf/,failure.o model.o format.o probe_table.o life_model.o life_decode.o life_samples.o life_stacks.o life_names.o life_replay.o replace.o)
$(B)/tests/test_recording: $(RECORDING_OBJ)
$(B)/tests/test_recording: LDLIBS += -lsqlite3
$(B)/tests/test_recording_life: $(RECORDING_OBJ) $(addprefix $(B)/bpf/,life_spool.o temporary.o)
$(B)/tests/test_recording_life: LDLIBS += -lsqlite3

# What test_lifetimes_record.sh runs.
$(B)/tests/burst: $(B)/tests/burst.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread
test-programs: $(B)/tests/burst
