# Trees for kernel/device_tree_test.cpp: the boards of dts/ by dtc, and what QEMU itself describes.
#
# Each QEMU tree is one command line of a `virt` machine; QEMU writes the tree and ends.

DEVICE_TREE_DIR := build/dtb
QEMU_TREES := smp1 smp124 smp160 gicv2 virtualization secure numa
QEMU_smp1 := -M virt,gic-version=3 -smp 1
QEMU_smp124 := -M virt,gic-version=3 -smp 124
QEMU_smp160 := -M virt,gic-version=3 -smp 160
QEMU_gicv2 := -M virt -smp 8
QEMU_virtualization := -M virt,gic-version=3,virtualization=on -smp 4
QEMU_secure := -M virt,gic-version=3,secure=on -smp 4
QEMU_numa := -M virt,gic-version=3 -smp 4 \
  -object memory-backend-ram,id=low,size=256M -object memory-backend-ram,id=high,size=768M \
  -numa node,nodeid=0,memdev=low,cpus=0-1 -numa node,nodeid=1,memdev=high,cpus=2 -numa node,nodeid=2,cpus=3

DEVICE_TREES := $(patsubst dts/%.dts,$(DEVICE_TREE_DIR)/%.dtb,$(wildcard dts/*.dts)) \
                $(QEMU_TREES:%=$(DEVICE_TREE_DIR)/qemu-%.dtb)

$(DEVICE_TREE_DIR)/%.dtb: dts/%.dts $(wildcard dts/*.dtsi)
	@mkdir -p $(@D)
	$(if $(V),,@)dtc -q -I dts -O dtb -o $@ $<

$(QEMU_TREES:%=$(DEVICE_TREE_DIR)/qemu-%.dtb): $(DEVICE_TREE_DIR)/qemu-%.dtb: tests/host/device_trees.mk
	@mkdir -p $(@D)
	$(if $(V),,@)timeout 60 qemu-system-aarch64 $(QEMU_$*) -cpu cortex-a72 -m 1G -nodefaults -display none \
	  -machine dumpdtb=$@ > $@.log 2>&1 || { cat $@.log; rm -f $@; false; }

$(HOST_TESTS) fuzz: | $(DEVICE_TREES)
