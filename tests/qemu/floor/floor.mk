# The bare program of tests/qemu/floor: `make build/floor/Image`. Included by the top Makefile.

FLOOR_DIR := tests/qemu/floor
FLOOR_CROSS ?= aarch64-linux-gnu-

build/floor/floor.elf: $(FLOOR_DIR)/floor.S $(FLOOR_DIR)/floor.lds
	@mkdir -p $(@D)
	$(FLOOR_CROSS)gcc -nostdlib -static -Wl,--build-id=none -T $(FLOOR_DIR)/floor.lds -o $@ $<

build/floor/Image: build/floor/floor.elf
	$(FLOOR_CROSS)objcopy -O binary $< $@
