#include "lib/late.hpp"

#include <type_traits>

#include "tests/host/support.hpp"

namespace atl {
namespace {

struct Counted {
  static inline int made = 0;
  static inline int ended = 0;
  explicit Counted(int v) : value(v) { ++made; }
  ~Counted() { ++ended; }
  int value;
};

// The point of it: a static `Late` needs neither a constructor run at start nor a destructor at exit.
constinit Late<Counted> static_object;
static_assert(std::is_trivially_destructible_v<Late<Counted>>);
static_assert(!std::is_copy_constructible_v<Late<Counted>>);

TEST(Late, MadeOnceAndNeverEnded) {
  EXPECT_FALSE(static_object.made());
  EXPECT_EQ(Counted::made, 0);
  EXPECT_EQ(static_object.emplace(7).value, 7);
  EXPECT_TRUE(static_object.made());
  EXPECT_EQ(static_object->value, 7);
  EXPECT_EQ(&*static_object, &*static_object);
  {
    Late<Counted> local;
    local.emplace(8);
  }
  EXPECT_EQ(Counted::made, 2);
  EXPECT_EQ(Counted::ended, 0);
}

TEST(Late, UseBeforeAndSecondMakingPanic) {
  Late<int> late;
  EXPECT_PANIC(*late, "made_");
  late.emplace(1);
  EXPECT_PANIC(late.emplace(2), "!made_");
  EXPECT_EQ(*late, 1);
}

}  // namespace
}  // namespace atl
