// How does memory that was freed get back to the system?
#pragma once

namespace ferrox {

/// What the allocator keeps for later, of all threads, goes back: after bursts that aren't the rule. Takes
/// milliseconds.
void give_free_memory_back();

}  // namespace ferrox
