# Builds one configuration of the kernel in $(O): atoll.elf and Image (with selftests), atoll-lean.elf (without).

ifeq ($(LLVM),1)
CXX_KERNEL := clang++-19 --target=aarch64-linux-gnu
LD_KERNEL := ld.lld-19
TOOLCHAIN_FLAGS := -Wthread-safety -Werror=thread-safety -mno-outline-atomics
LD_FLAGS := -z max-page-size=65536
else
CXX_KERNEL := $(CROSS_COMPILE)g++
LD_KERNEL := $(CROSS_COMPILE)ld
# Section anchors would make the address of a per-CPU variable cost an instruction more.
TOOLCHAIN_FLAGS := -mno-outline-atomics -fno-section-anchors
LD_FLAGS := --no-warn-rwx-segments -z max-page-size=65536
endif
OBJCOPY := $(CROSS_COMPILE)objcopy
NM := $(CROSS_COMPILE)nm

# Nothing in the output depends on when, where or by whom it was built.
KERNEL_DEFINES := -DATOLL_PAGE_KIB=$(PAGE:k=) -DATOLL_VA_BITS=$(VA) -DATOLL_PERCPU=$(PERCPU) \
  -DATOLL_DEBUG=$(DEBUG) $(if $(PLANTED),-DATOLL_FAULT=$(PLANTED))
KERNEL_INCLUDES := -I. -Iarch-arm64/include -Iarch-arm64/hw/inline -I$(O) -isystem build/include
KERNEL_COMMON := $(KERNEL_DEFINES) $(KERNEL_INCLUDES) -g -ffile-prefix-map=$(CURDIR)/= -MMD -MP
KERNEL_CXXFLAGS := $(KERNEL_COMMON) -std=c++23 -O2 -Wall -Wextra -Werror -ffreestanding -fno-exceptions \
  -fno-rtti -fno-threadsafe-statics -fno-asynchronous-unwind-tables -fno-stack-protector -fno-pic \
  -mcmodel=small -mgeneral-regs-only -fno-omit-frame-pointer -fno-common $(TOOLCHAIN_FLAGS)
# Runs at physical addresses: no unaligned access before the MMU is on, no tables of absolute addresses.
EARLY_CXXFLAGS := -mstrict-align -fno-jump-tables
# The bodies of memcpy and friends must not become calls to themselves.
STRING_CXXFLAGS := $(if $(filter 1,$(LLVM)),-fno-builtin,-fno-tree-loop-distribute-patterns) -mstrict-align

LEAN_SOURCES := $(wildcard lib/*.cpp arch-arm64/*.cpp arch-arm64/hw/*.cpp arch-arm64/hw/*.S percpu/*.cpp mm/*.cpp) \
  $(filter-out kernel/asm_constants.cpp,$(wildcard kernel/*.cpp))
LEAN_SOURCES := $(filter-out arch-arm64/hw/kernel.ld.S,$(LEAN_SOURCES))
# Only what people look at: the size of the lean kernel is a published figure.
DIAGNOSTIC_SOURCES := kernel/percpu_command.cpp kernel/percpu_variables.cpp
LEAN_SOURCES := $(filter-out $(DIAGNOSTIC_SOURCES),$(LEAN_SOURCES))
TEST_SOURCES := $(wildcard tests/kernel/*.cpp) $(DIAGNOSTIC_SOURCES)
EARLY_SOURCES := arch-arm64/hw/head.S arch-arm64/hw/el2.S arch-arm64/hw/early_stop.cpp kernel/early_map.cpp

object = $(patsubst %,$(O)/obj/%.o,$(basename $(1)))
LEAN_OBJECTS := $(call object,$(LEAN_SOURCES))
TEST_OBJECTS := $(call object,$(TEST_SOURCES))
EARLY_OBJECTS := $(call object,$(EARLY_SOURCES))
$(call object,$(filter %.cpp,$(EARLY_SOURCES))): FILE_CXXFLAGS := $(EARLY_CXXFLAGS)
$(O)/obj/lib/string.o: FILE_CXXFLAGS := $(STRING_CXXFLAGS)

.PHONY: image
image: $(O)/Image $(O)/atoll-lean.elf $(if $(PLANTED),,$(O)/atoll-lean.checked)

# Only these of the host's headers are visible, and only from here.
BORROWED_HEADERS := build/include/boost build/include/libfdt.h build/include/fdt.h build/include/libfdt_env.h
$(BORROWED_HEADERS): build/include/%:
	$(Q)mkdir -p $(@D) && ln -sfn /usr/include/$* $@

$(O)/asm_constants.h: kernel/asm_constants.cpp tools/asm_constants.sed | $(BORROWED_HEADERS)
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX_KERNEL) $(KERNEL_CXXFLAGS) -MF $@.d -MT $@ -S -o $@.s $<
	$(Q)sed -n -f tools/asm_constants.sed $@.s > $@.new && mv $@.new $@

# A change of flags rebuilds; the file's content is the command's.
$(O)/flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(CXX_KERNEL) $(KERNEL_CXXFLAGS)' | cmp -s - $@ || echo '$(CXX_KERNEL) $(KERNEL_CXXFLAGS)' > $@
FORCE:

$(O)/obj/%.o: %.cpp $(O)/flags | $(BORROWED_HEADERS) $(O)/asm_constants.h
	$(say) CXX $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX_KERNEL) $(KERNEL_CXXFLAGS) $(FILE_CXXFLAGS) -c -o $@ $<
$(O)/obj/%.o: %.S $(O)/flags $(O)/asm_constants.h
	$(say) AS $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX_KERNEL) $(KERNEL_COMMON) -c -o $@ $<
$(O)/kernel.ld: arch-arm64/hw/kernel.ld.S $(O)/asm_constants.h
	$(Q)$(CXX_KERNEL) $(KERNEL_COMMON) -MF $@.d -MT $@ -E -P -x c -o $@ $<

# Two passes: the first link gives the function addresses, which do not move when their names are added
# after them; the second carries the names.
link = $(Q)$(LD_KERNEL) -nostdlib -static -z noexecstack --build-id=none $(LD_FLAGS) -T $(O)/kernel.ld \
  -o $@ $(filter %.o,$^) $(LIBRARIES)
LIBRARIES := /usr/lib/aarch64-linux-gnu/libfdt.a

$(O)/early.checked: tools/check_early.py $(EARLY_OBJECTS)
	$(say) CHECK $(O)/early
	$(Q)python3 $< --objdump $(CROSS_COMPILE)objdump --nm $(NM) $(EARLY_OBJECTS)
	$(Q)touch $@

define kernel_elf
$(O)/$(1).pass1.elf: $(2) $(O)/kernel.ld $(O)/early.checked
	$$(say) LINK $$@
	$$(link)
$(O)/$(1).ksymbols.S: $(O)/$(1).pass1.elf tools/ksymbols.py
	$$(Q)python3 tools/ksymbols.py --nm $(NM) $$< > $$@.new && mv $$@.new $$@
$(O)/$(1).ksymbols.o: $(O)/$(1).ksymbols.S
	$$(Q)$(CXX_KERNEL) -c -o $$@ $$<
$(O)/$(1).elf: $(2) $(O)/$(1).ksymbols.o $(O)/kernel.ld
	$$(say) LINK $$@
	$$(link)
$(O)/$(1).checked: $(O)/$(1).elf tools/check_sequences.py tools/check_early.py tools/disassembly.py
	$$(say) CHECK $$<
	$$(Q)python3 -m tools.check_sequences --cross '$(CROSS_COMPILE)' $(addprefix --library ,$(LIBRARIES)) $$<
	$$(Q)touch $$@
endef
$(eval $(call kernel_elf,atoll,$(LEAN_OBJECTS) $(TEST_OBJECTS)))
$(eval $(call kernel_elf,atoll-lean,$(LEAN_OBJECTS)))

# A planted fault may be what the check refuses; then a test has to find it.
$(O)/Image: $(O)/atoll.elf $(if $(PLANTED),,$(O)/atoll.checked)
	$(say) IMAGE $@
	$(Q)$(OBJCOPY) -O binary $< $@

-include $(LEAN_OBJECTS:.o=.d) $(TEST_OBJECTS:.o=.d) $(O)/asm_constants.h.d $(O)/kernel.ld.d
