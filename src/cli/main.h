// How is a command line run? Find the subcommand, parse, run, and give an exit code.
#pragma once

namespace ferrox {

/// Exit codes: 0 success, 1 the command failed, 2 a wrong command line.
int run_command_line(int argc, char** argv);

}  // namespace ferrox
