#include "tests/fuzz/mutator.hpp"

#include <optional>

#include "tests/fuzz/flat_tree.hpp"
#include "tests/fuzz/random.hpp"
#include "tests/fuzz/text_sink.hpp"
#include "tests/fuzz/tree_mutator.hpp"

namespace atl::fuzz {
namespace {

void change_bytes(std::vector<u8>& bytes, Random& random, std::string& log) {
  if (!log.empty()) log += "; ";
  TextSink sink(log);
  constexpr usize kHeaderCells = 10;
  switch (bytes.size() < kHeaderCells * 4 ? 2 : random.below(3)) {
    case 0: {
      const usize cell = random.below(kHeaderCells);
      const u32 old = big_endian(bytes, cell * 4);
      const u32 choices[] = {0,       1,          old - 4,    old + 4,
                             old * 2, 0x7fffffff, 0xffffffff, static_cast<u32>(random.next())};
      put_big_endian(bytes, cell * 4, random.one_of(choices));
      return format(sink, "header_field {}: {:#x}", cell, big_endian(bytes, cell * 4));
    }
    case 1: {
      bytes.resize(random.below(bytes.size()));
      return format(sink, "truncate to {} bytes", bytes.size());
    }
    default: {
      const usize count = bytes.empty() ? 0 : 1 + random.below(8);
      for (usize i = 0; i < count; ++i) bytes[random.below(bytes.size())] = static_cast<u8>(random.next());
      return format(sink, "flip_bytes, {} of them", count);
    }
  }
}

}  // namespace

Mutant mutate(std::span<const u8> base, u64 seed, const Severity& severity) {
  Random random(seed);
  Mutant mutant{{base.begin(), base.end()}, ""};
  std::optional<FlatTree> tree = FlatTree::read(base);
  if (tree) {
    const usize count = 1 + random.below(severity.most);
    for (usize i = 0; i < count; ++i) change_tree(*tree, random, mutant.description);
    mutant.bytes = tree->write();
  }
  if (!tree || random.percent(severity.bytes_percent)) change_bytes(mutant.bytes, random, mutant.description);
  return mutant;
}

}  // namespace atl::fuzz
