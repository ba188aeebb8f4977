# The parts of honeyginger that its runs do not reach in full.
$(B)/tests/test_sph: $(addprefix $(B)/obj/workloads/,program.o $(addprefix honeyginger/,classes.o collection.o point.o))
