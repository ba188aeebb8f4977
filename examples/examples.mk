# Small complete programs that embed libeden: examples/NAME.c becomes $(B)/examples/NAME.
EXAMPLES := $(patsubst examples/%.c,$(B)/examples/%,$(wildcard examples/*.c))
ALL += $(EXAMPLES)

$(EXAMPLES): $(B)/examples/%: $(B)/examples/%.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o %.a,$^) $(LDFLAGS) -lm -lpthread
.SECONDARY: $(EXAMPLES:=.o)
