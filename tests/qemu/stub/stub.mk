# The loader of tests/qemu/stub: `make build/stub/stub.elf`. Included by the top Makefile.

STUB_DIR := tests/qemu/stub
STUB_CROSS ?= aarch64-linux-gnu-

build/stub/stub.elf: $(STUB_DIR)/stub.S $(STUB_DIR)/stub.lds
	@mkdir -p $(@D)
	$(STUB_CROSS)gcc -nostdlib -static -Wl,--build-id=none -T $(STUB_DIR)/stub.lds -o $@ $<
