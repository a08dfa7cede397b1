# Host tests: one GoogleTest binary with ASan and UBSan over everything that does not touch the machine.
#
#   make host-test [FILTER='Buddy.*'] [FAULT=name] [V=1]      (alone: make -f tests/host/host.mk host-test)
#
# The page size is a template parameter of what is tested, so one binary covers all granules. A planted
# fault (lib/fault.hpp) gets a build directory of its own. Run from the project root.

HOST_CXX ?= g++
PLANTED := $(filter-out none,$(FAULT))
HOST_DIR := build/host$(if $(PLANTED),-fault-$(PLANTED))
HOST_TESTS := $(HOST_DIR)/host_tests
HOST_REPORT := $(HOST_DIR)/report.json
FILTER ?= *

# Of kernel/ the pure files: those that have a test here. lib/runtime.cpp defines the C library's own names,
# so it stays out.
HOST_KERNEL := $(wildcard $(patsubst tests/host/%_test.cpp,%.cpp,$(wildcard tests/host/kernel/*_test.cpp)))
include tests/fuzz/fuzz.mk
# tests/negative passes the few that it needs.
HOST_TEST_SOURCES := $(shell find tests/host -name '*.cpp') tests/fuzz/mutator_test.cpp
# Mutated device trees (tests/fuzz/fuzz.mk), where a test wants them.
HOST_FUZZ := $(if $(filter %/mutator_test.cpp %/device_tree_mutation_test.cpp,$(HOST_TEST_SOURCES)),$(MUTATION_SOURCES))
HOST_SOURCES := $(sort $(filter-out lib/runtime.cpp,$(wildcard lib/*.cpp arch-arm64/*.cpp percpu/*.cpp mm/*.cpp)) \
                       $(HOST_KERNEL) $(HOST_FUZZ) $(HOST_TEST_SOURCES))
HOST_OBJECTS := $(HOST_SOURCES:%.cpp=$(HOST_DIR)/%.o)

# A warning may be how the compiler sees a planted fault; the tests are to see it, too.
HOST_CXXFLAGS := -std=c++23 -O1 -g1 -Wall -Wextra $(if $(PLANTED),,-Werror) -fno-omit-frame-pointer \
                 -fsanitize=address,undefined -fno-sanitize-recover=all \
                 -I. -Iarch-arm64/include -Itests/host/fake $(if $(PLANTED),-DATOLL_FAULT=$(PLANTED))
# The Debian package of libfdt's headers is the arm64 one, which brings no libfdt.so link for the host.
HOST_LIBS := -lgmock -lgtest -lgtest_main -l:libfdt.so.1 -lpthread
# In the kernel -ffreestanding keeps the compiler from making memcpy out of memcpy's own loop.
$(HOST_DIR)/lib/string.o: HOST_CXXFLAGS += -fno-builtin

# Tests are compiled often and run once: compile time counts.
$(HOST_DIR)/tests/host/%.o: HOST_CXXFLAGS += -O0

HOST_QUIET := $(if $(V),,@)

.PHONY: host-build host-test
host-build: $(HOST_TESTS) $(if $(PLANTED),,fuzz-build)
host-test: $(HOST_TESTS)
	$(HOST_QUIET)$< --gtest_brief=1 --gtest_filter='$(FILTER)' --gtest_output=json:$(HOST_REPORT)

$(HOST_TESTS): $(HOST_OBJECTS)
	@echo "  LINK    $@"
	$(HOST_QUIET)$(HOST_CXX) $(HOST_CXXFLAGS) -o $@ $^ $(HOST_LIBS)

$(HOST_DIR)/%.o: %.cpp tests/host/host.mk
	@echo "  HOSTCXX $<"
	@mkdir -p $(@D)
	$(HOST_QUIET)$(HOST_CXX) $(HOST_CXXFLAGS) -MMD -MP -c -o $@ $<

-include $(HOST_OBJECTS:.o=.d)

include tests/host/device_trees.mk
