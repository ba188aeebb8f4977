# The papers' benchmark programs on libeden, their data sets, and the demo.
#
# A program is workloads/NAME.c and the objects of its folder; a fragment line says which.
CPPFLAGS_workloads := -Iworkloads
FRAME_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard workloads/frame/*.c))
WORKLOADS := $(B)/workloads/dataframe $(B)/workloads/queue $(B)/workloads/mkdata
ALL += $(WORKLOADS)

$(B)/workloads/dataframe: $(B)/workloads/dataframe.o $(FRAME_OBJ) $(B)/lib/libeden.a
	$(CC) -o $@ $(filter %.o %.a,$^) $(LDFLAGS) -lcsv -ljansson -lm -lpthread

$(B)/workloads/queue: $(B)/workloads/queue.o $(B)/lib/libeden.a
	$(CC) -o $@ $(filter %.o %.a,$^) $(LDFLAGS) -lm -lpthread

$(B)/workloads/mkdata: $(B)/workloads/mkdata.o
	$(CC) -o $@ $(filter %.o,$^) $(LDFLAGS)

demo: ## set up, build, make a data set of ROWS rows, load it under edenscope and report (root)
	@scripts/demo $(if $(ROWS),$(ROWS))
