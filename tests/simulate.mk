# The simulation, without recordings.
$(B)/tests/test_simulate: $(addprefix $(B)/bpf/,$(addprefix simulate/,collector.o young.o old.o portion.o history.o precedence.o curve.o parameters.o) failure.o)
