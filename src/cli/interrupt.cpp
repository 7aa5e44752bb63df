#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace ferrox {
namespace {

std::atomic<int> n_interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch it");

struct sigaction previous_action;

extern "C" void count_interrupt(int) { n_interrupts.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

InterruptGuard::InterruptGuard() {
  n_interrupts = 0;
  struct sigaction action {};
  action.sa_handler = count_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_action);
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &previous_action, nullptr); }

int InterruptGuard::count() const { return n_interrupts.load(std::memory_order_relaxed); }

void InterruptGuard::reset() { n_interrupts = 0; }

}  // namespace ferrox
