# Complete programs that embed libeden: examples/NAME.c or NAME.cpp becomes $(B)/examples/NAME.
CXX ?= g++
EXAMPLES := $(patsubst examples/%.c,$(B)/examples/%,$(wildcard examples/*.c))
EXAMPLES_CXX := $(patsubst examples/%.cpp,$(B)/examples/%,$(wildcard examples/*.cpp))
ALL += $(EXAMPLES) $(EXAMPLES_CXX)

$(EXAMPLES): $(B)/examples/%: $(B)/examples/%.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o %.a,$^) $(LDFLAGS) -lm -lpthread
$(EXAMPLES_CXX): $(B)/examples/%: examples/%.cpp $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS_ALL) -std=c++17 $(WARN) $(OPT) $(SAN_FLAGS) -MMD -MP -MF $@.d -o $@ $(filter %.cpp %.a,$^) $(LDFLAGS) -lm -lpthread
.SECONDARY: $(EXAMPLES:=.o)
