// How is a command line run? Find the subcommand, parse, run, and give an exit code.
#pragma once

namespace ferrox {

/// Gives one of ExitCode's numbers. argv[0] is the program.
int run_command_line(int argc, const char* const* argv);

}  // namespace ferrox
