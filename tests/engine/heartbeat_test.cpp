// Is silence of the engine counted while it has work, and only then?
#include "engine/heartbeat.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/gate.h"
#include "support/loop_rig.h"

namespace ferrox {
namespace {

using namespace std::chrono_literals;
using testing::EventLog;
using testing::Gate;
using testing::make_request;
using testing::Rig;

TEST(Heartbeat, CountsFromTheLastBeat) {
  Heartbeat heartbeat;
  const Heartbeat::Clock::time_point start = Heartbeat::Clock::now();
  EXPECT_EQ(heartbeat.silence(start), 0s);
  heartbeat.beat(start);
  EXPECT_EQ(heartbeat.silence(start + 3s), 3s);
  EXPECT_EQ(heartbeat.silence(start - 1s), 0s) << "asked by a thread that looked at the clock before";
  heartbeat.beat(start + 5s);
  EXPECT_EQ(heartbeat.silence(start + 6s), 1s);
  heartbeat.rest();
  EXPECT_EQ(heartbeat.silence(start + 100s), 0s);
}

// P3: what asks whether the server is well needs no turn of the engine.
TEST(Heartbeat, AnEngineThatHangsIsSeenAndOneAtRestIsNot) {
  Gate gate;
  Rig rig;
  rig.model.on_forward = [&](const Batch&) { gate.pass(); };
  EXPECT_EQ(rig.loop->status().silence, 0ms);
  EventLog log = rig.submit(make_request({1, 2, 3}, 2));
  gate.wait_for_arrivals(1);
  while (rig.loop->status().silence < 20ms) std::this_thread::yield();
  gate.open();
  log.wait();
  while (rig.loop->status().silence > 0ms) std::this_thread::yield();
  rig.expect_at_rest();
}

// P5: an engine thread that fails takes the process with it, for whoever starts it again; it never lives on useless.
TEST(EngineDeathTest, AnExceptionOfTheEngineThreadEndsTheProcess) {
  EXPECT_DEATH(
      {
        Rig rig;
        rig.model.on_forward = [](const Batch&) { throw std::runtime_error("a bug"); };
        rig.submit(make_request({1, 2, 3}, 2)).wait();
      },
      "a bug");
}

}  // namespace
}  // namespace ferrox
