#include "kernel/fdt_notes.hpp"

#include <algorithm>

#include "tests/host/support.hpp"

namespace atl {
namespace {

TEST(FdtNotes, AreBoundedAndTheConclusionIsTheLastLine) {
  host::StringSink sink;
  FdtNotes notes(sink);
  for (unsigned i = 0; i < 1000; ++i) notes.note("fault {}", i);
  notes.conclude("the reason");
  const std::string text(sink.text());
  EXPECT_EQ(std::ranges::count(text, '\n'), FdtNotes::kMaxLines + 2) << "1000 remarks were written";
  EXPECT_TRUE(text.ends_with("device tree: 960 more remarks left out\ndevice tree: the reason\n")) << text;
}

}  // namespace
}  // namespace atl
