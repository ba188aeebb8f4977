# The rules of tuning, on facts made by hand: without what reads recordings and what prints.
TUNE_RULES_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out $(addprefix bpf/tune/,facts_read.c facts_event.c facts_life.c json.c text.c \
	search%.c trial%.c verify%.c try.c spread.c), $(wildcard bpf/tune/*.c))) $(addprefix $(B)/bpf/,format.o text.o)
$(B)/tests/test_tune_rules: $(TUNE_RULES_OBJ)
