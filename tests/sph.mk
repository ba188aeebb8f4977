# The parts of honeyginger that its runs do not reach in full.
$(B)/tests/test_sph: $(addprefix $(B)/workloads/,program.o $(addprefix sph/,classes.o collection.o point.o))
